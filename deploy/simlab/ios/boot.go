package ios

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/terminal"
)

// How long the parts of a boot take at the lab's pace. Power on is quicker: a node that is started has booted.
const (
	bootstrapTime = time.Second
	decompression = 2 * time.Second
)

const bootstrapText = `
System Bootstrap, simulated by the GNS3 Copilot demo lab
%s platform with 131072 Kbytes of main memory

Self decompressing the image : `

const restrictedText = ` [OK]

              Simulated by the GNS3 Copilot demo lab:
              no vendor software runs on this device.

%s

`

// boot brings the device up. After a reload it shows how, and keys typed meanwhile are lost.
func (r *Router) boot(ctx context.Context, t *terminal.Terminal, again bool) (*shell, error) {
	state := t.Boot()
	r.host.SetPower(false)
	if again || state == terminal.BootHang {
		if err := r.bootstrap(ctx, t, state); err != nil {
			return nil, err
		}
	}
	if state == terminal.BootROM {
		if err := romMonitor(ctx, t); err != nil {
			return nil, err
		}
	}
	r.reset()
	r.load(ctx, t, r.Startup())
	blank := r.Startup() == ""
	if !blank {
		// As the router would have saved it, so that "show startup-config" and the question before a reload are right.
		r.setStartup(r.runningConfig())
	}
	r.host.SetPower(true)
	s := &shell{r: r, t: t, length: defaultLength, loggedOut: true, login: state == terminal.BootLogin}
	switch {
	case state == terminal.BootDialog, blank:
		if err := s.dialog(ctx); err != nil {
			return nil, err
		}
	case state == terminal.BootPrompt:
		s.loggedOut = false
		return s, nil
	}
	t.Print("\n\nPress RETURN to get started!\n\n")
	if again {
		s.logRestart()
	}
	return s, nil
}

// logRestart reports the interfaces that have come up, and which software has.
func (s *shell) logRestart() {
	for _, i := range s.r.interfaces() {
		if !i.Virtual && !i.Shutdown {
			s.log("%%LINK-3-UPDOWN: Interface %s, changed state to up", i.Name)
		}
	}
	for _, i := range s.r.interfaces() {
		if i.Line && i.Parent == "" {
			s.logLine(i.Name, true)
		}
	}
	_, software, _ := s.r.model()
	s.log("%%SYS-5-RESTART: System restarted --\n%s\nSimulated by the GNS3 Copilot demo lab", software)
}

// bootstrap shows a boot until the image runs.
func (r *Router) bootstrap(ctx context.Context, t *terminal.Terminal, state terminal.Boot) error {
	platform, software, _ := r.model()
	t.Print(fmt.Sprintf(bootstrapText, platform))
	if state == terminal.BootHang {
		return t.Swallow(ctx)
	}
	if err := t.Discard(ctx, bootstrapTime); err != nil {
		return err
	}
	for range 4 {
		t.Print(strings.Repeat("#", 16))
		if err := t.Discard(ctx, decompression/4); err != nil {
			return err
		}
	}
	t.Print(fmt.Sprintf(restrictedText, software))
	return nil
}

// dialog asks for the initial configuration, of which only the refusal is simulated.
func (s *shell) dialog(ctx context.Context) error {
	s.t.Print("\n\n         --- System Configuration Dialog ---\n\n")
	for {
		answer, key, err := s.ask(ctx, "Would you like to enter the initial configuration dialog? [yes/no]: ")
		if err != nil {
			return err
		}
		switch low := strings.ToLower(answer); {
		case key == terminal.Interrupt, low == "n", low == "no":
			return nil
		case low == "y", low == "yes":
			s.t.Print("% The dialog is not simulated. Answer no, and configure the device from its command line.\n")
		default:
			s.t.Print("% Please answer 'yes' or 'no'.\n")
		}
	}
}

// romMonitor serves the ROM monitor until it is told to boot.
func romMonitor(ctx context.Context, t *terminal.Terminal) error {
	t.Print("\nSystem Bootstrap, simulated by the GNS3 Copilot demo lab\n\n")
	for n := 1; ; n++ {
		line, key, err := t.ReadCommand(ctx, terminal.Line{Prompt: fmt.Sprintf("rommon %d > ", n)})
		if err != nil {
			return err
		}
		words := strings.Fields(strings.ToLower(line))
		switch {
		case len(words) == 0 || key == terminal.Interrupt:
		case words[0] == "boot", words[0] == "reset", words[0] == "b", words[0] == "i":
			return nil
		case words[0] == "?", words[0] == "help":
			t.Print("boot                boot up an external process\nconfreg             configuration register utility\n" +
				"dir                 list files in file system\nhelp                monitor builtin command help\n" +
				"reset               system reset\nset                 display the monitor variables\n")
		case words[0] == "confreg":
			t.Print("\nYou must reset or power cycle for new config to take effect\n")
		case words[0] == "set":
			t.Print("PS1=rommon ! >\n?=0\n")
		case words[0] == "dir":
			t.Print("         File size           Checksum   File name\n")
		default:
			t.Print("monitor: command \"" + words[0] + "\" not found\n")
		}
	}
}

// model says what the device pretends to be: platform, software, and the hardware line of "show version".
func (r *Router) model() (platform, software, hardware string) {
	if r.isSwitch {
		return "Linux Unix", "Cisco IOS Software, Linux Software (I86BI_LINUXL2-ADVENTERPRISEK9-M), Version 15.2(4), RELEASE SOFTWARE (fc1)",
			"Linux Unix (Intel-x86) processor with 124928K bytes of memory."
	}
	return "c3725", "Cisco IOS Software, 3700 Software (C3725-ADVENTERPRISEK9-M), Version 12.4(15)T14, RELEASE SOFTWARE (fc2)",
		"Cisco 3725 (R7000) processor (revision 0.1) with 124928K/6144K bytes of memory."
}
