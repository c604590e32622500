package ios

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/fabric"
	"gns3copilot/deploy/simlab/terminal"
)

const (
	flashSize  = 16777216
	flashName  = "flash:"
	runningKey = "running-config"
	startupKey = "startup-config"
	// tftpTime is how long a file server that isn't there is waited for.
	tftpTime = 5 * time.Second
)

// flashFile takes the name of a file in flash.
func flashFile(name string) *argument {
	return &argument{name: name, label: flashName, begun: flashBegun, take: func(_ string, tokens []token) (string, int) {
		text := tokens[0].text
		if len(text) < len(flashName) || !strings.EqualFold(text[:len(flashName)], flashName) {
			return "", 0
		}
		return flashName + strings.TrimPrefix(text[len(flashName):], "/"), 1
	}}
}

// copyNode is "copy FROM TO".
func copyNode() *node {
	to := func() []*node {
		return []*node{
			command(runningKey, "Update (merge with) current system configuration", copyFile),
			command(startupKey, "Copy to startup configuration", copyFile),
			command("tftp:", "Copy to tftp: file system", copyFile),
			asks(flashFile("to"), "Copy to flash: file system").does(copyFile),
		}
	}
	return group("copy", "Copy from one file to another",
		group(runningKey, "Copy from current system configuration", to()...),
		group(startupKey, "Copy from startup configuration", to()...),
		group("tftp:", "Copy from tftp: file system", to()...),
		asks(flashFile("from"), "Copy from flash: file system", to()...)).only(privileged)
}

// copyFile asks for the name that the destination is to have, and copies.
func copyFile(ctx context.Context, s *shell, _ args) error {
	from, to := s.said[1], s.said[2]
	if from == "tftp:" || to == "tftp:" {
		return s.copyTFTP(ctx)
	}
	proposal := strings.TrimPrefix(to, flashName)
	if proposal == "" {
		proposal = strings.TrimPrefix(from, flashName)
	}
	name, key, err := s.ask(ctx, fmt.Sprintf("Destination filename [%s]? ", proposal))
	if err != nil || key == terminal.Interrupt {
		return err
	}
	if name == "" {
		name = proposal
	}
	text, ok := s.contents(from)
	switch {
	case !ok:
		s.print("%%Error opening %s (No such file or directory)\n", from)
	case to == startupKey && name != startupKey:
		s.print("%%Error opening nvram:%s (Not enough space)\n", name)
	case to == startupKey && from == runningKey:
		s.save()
	case to == startupKey:
		s.r.setStartup(text)
		s.print("[OK]\n%d bytes copied in 0.416 secs (%d bytes/sec)\n", len(text), len(text)*1000/416)
	case to == runningKey:
		s.r.load(ctx, s.t, text)
		s.print("%d bytes copied in 0.416 secs (%d bytes/sec)\n", len(text), len(text)*1000/416)
	default:
		s.r.flash[name] = text
		s.print("\n%d bytes copied in 0.416 secs (%d bytes/sec)\n", len(text), len(text)*1000/416)
	}
	return nil
}

// contents reads a file.
func (s *shell) contents(name string) (string, bool) {
	switch name {
	case runningKey:
		return s.r.runningConfig(), true
	case startupKey:
		return s.r.Startup(), s.r.Startup() != ""
	}
	text, ok := s.r.flash[strings.TrimPrefix(name, flashName)]
	return text, ok
}

// copyTFTP asks for a server, which never answers: there is none in these labs.
func (s *shell) copyTFTP(ctx context.Context) error {
	host, key, err := s.ask(ctx, "Address or name of remote host []? ")
	if err != nil || key == terminal.Interrupt {
		return err
	}
	name, key, err := s.ask(ctx, "Destination filename [running-config]? ")
	if err != nil || key == terminal.Interrupt {
		return err
	}
	s.print(".....")
	if _, err := s.t.Pause(ctx, tftpTime); err != nil {
		return err
	}
	s.print("\n%%Error opening tftp://%s/%s (Timed out)\n", host, name)
	return nil
}

// writeMemory is "write" and "write memory".
func writeMemory(_ context.Context, s *shell, _ args) error {
	s.save()
	return nil
}

// save puts the running configuration into NVRAM.
func (s *shell) save() {
	s.print("Building configuration...\n")
	s.r.setStartup(s.r.runningConfig())
	s.print("[OK]\n")
}

// writeErase empties NVRAM. The running configuration is untouched until a reload.
func writeErase(ctx context.Context, s *shell, _ args) error {
	yes, err := s.t.Confirm(ctx, "Erasing the nvram filesystem will remove all configuration files! Continue? [confirm]")
	if err != nil || !yes {
		return err
	}
	s.r.setStartup("")
	s.print("[OK]\nErase of nvram: complete\n")
	s.log("%%SYS-7-NV_BLOCK_INIT: Initialized the geometry of nvram")
	return nil
}

// formatFlash is "format flash:" and "erase flash:".
func formatFlash(ctx context.Context, s *shell, _ args) error {
	questions := []string{"Erasing the flash filesystem will remove all files! Continue? [confirm]"}
	verb := "Erase"
	if s.said[0] == "format" {
		verb = "Format"
		questions = []string{"Format operation may take a while. Continue? [confirm]",
			"Format operation will destroy all data in \"flash:\".  Continue? [confirm]"}
	}
	for _, q := range questions {
		if yes, err := s.t.Confirm(ctx, q); err != nil || !yes {
			return err
		}
	}
	clear(s.r.flash)
	s.print("%s of flash: complete\n", verb)
	return nil
}

// deleteFile asks twice: for the name, and whether it is meant.
func deleteFile(ctx context.Context, s *shell, a args) error {
	name := strings.TrimPrefix(a["file"], flashName)
	answer, key, err := s.ask(ctx, fmt.Sprintf("Delete filename [%s]? ", name))
	if err != nil || key == terminal.Interrupt {
		return err
	}
	if answer != "" {
		name = answer
	}
	yes, err := s.t.Confirm(ctx, fmt.Sprintf("Delete flash:%s? [confirm]", name))
	if err != nil || !yes {
		return err
	}
	if _, ok := s.r.flash[name]; !ok {
		s.print("%%Error deleting flash:%s (No such file or directory)\n", name)
		return nil
	}
	delete(s.r.flash, name)
	return nil
}

func showFlash(s *shell, _ args) string {
	var b strings.Builder
	b.WriteString("Directory of flash:/\n\n")
	used := 0
	for i, name := range slices.Sorted(maps.Keys(s.r.flash)) {
		used += len(s.r.flash[name])
		fmt.Fprintf(&b, "  %3d  -rw-  %10d   Mar 1 2002 00:00:00 +00:00  %s\n", i+1, len(s.r.flash[name]), name)
	}
	if used == 0 {
		b.WriteString("No files in directory\n")
	}
	fmt.Fprintf(&b, "\n%d bytes total (%d bytes free)\n", flashSize, flashSize-used)
	return b.String()
}

func showNVRAM(s *shell, _ args) string {
	size := len(s.r.Startup())
	return fmt.Sprintf("Directory of nvram:/\n\n   53  -rw-  %10d                    <no date>  startup-config\n\n%d bytes total (%d bytes free)\n",
		size, nvramSize, nvramSize-size)
}

// telnet finds nobody who listens: devices here have no telnet server.
func telnet(ctx context.Context, s *shell, a args) error {
	to, ok := s.target(ctx, a)
	if !ok {
		return nil
	}
	s.print("Trying %s ... \n", to)
	if s.r.host.Send(fabric.Probe{To: to}).Outcome == fabric.Answered {
		s.print("%% Connection refused by remote host\n\n")
		return nil
	}
	if _, err := s.t.Pause(ctx, tftpTime); err != nil {
		return err
	}
	s.print("%% Connection timed out; remote host not responding\n\n")
	return nil
}
