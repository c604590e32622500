package console

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// D2: the greeting of GNS3's proxy and old boot text are not output, nor is anything in them a prompt.
func TestD2StaleBootText(t *testing.T) {
	t.Parallel()
	shell := ios("R2")
	var boot strings.Builder
	boot.WriteString("Connected to Dynamips VM \"R2\" (ID 2, type c7200) - Console port\r\nPress ENTER to get the prompt.\r\n")
	for boot.Len() < 3<<10 {
		boot.WriteString("%LINEPROTO-5-UPDOWN: Line protocol on Interface FastEthernet0/0, changed state to up\r\nRouter#\r\n")
	}
	shell.Banner = boot.String()
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { c.Cut = 700; shell.Serve(c) })
	report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock")
	wantText(t, report.Outputs[0], clock)
}

// D3: a console that shows nothing until CR, and only at the second or third.
func TestD3SilentUntilEnter(t *testing.T) {
	t.Parallel()
	for _, enters := range []int{1, 2, 3} {
		shell := ios("R1")
		server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
			for seen := 0; seen < enters; {
				key, ok := c.Key()
				if !ok {
					return
				}
				if key == '\r' {
					seen++
				}
			}
			c.Send("\r\n" + shell.PromptText())
			shell.Run(c)
		})
		report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock")
		wantText(t, report.Outputs[0], clock)
		for _, line := range shell.Lines() {
			if line != "" && line != "show clock" && !strings.HasPrefix(line, "terminal ") {
				t.Errorf("typed %q into the exec prompt", line)
			}
		}
	}
}

// D4: the idle console reacts to CR only, not to LF.
func TestD4PressReturn(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		c.Send("\r\nR1 con0 is now available\r\n\r\n\r\nPress RETURN to get started.\r\n\r\n")
		for key := byte(0); key != '\r'; {
			var ok bool
			if key, ok = c.Key(); !ok {
				return
			}
		}
		c.Send("\r\n\r\n" + shell.PromptText())
		shell.Run(c)
	})
	report := mustRun(t, newPool(t, Options{}), server, "", "show clock")
	wantText(t, report.Outputs[0], clock)
	if report.Platform != "cisco_iosxe" {
		t.Errorf("platform %q", report.Platform)
	}
}

// dialog is a blank router's first question. It repeats itself for everything but yes and no.
func dialog(c *fakeconsole.Conn, question string) (answer string, ok bool) {
	const complain = "% Please answer 'yes' or 'no'.\r\n"
	for {
		if !c.Send(question) {
			return "", false
		}
		for answer = ""; ; {
			key, ok := c.Key()
			if !ok {
				return "", false
			}
			if key == '\r' {
				break
			}
			if key >= ' ' {
				answer += string(key)
				c.Send(string(key))
			}
		}
		c.Send("\r\n")
		if answer == "no" || answer == "yes" {
			return answer, true
		}
		c.Send(complain)
	}
}

const dialogQuestion = "Would you like to enter the initial configuration dialog? [yes/no]: "

// D5: the dialog is declined once, and never accepted.
func TestD5InitialDialog(t *testing.T) {
	t.Parallel()
	shell := ios("Router")
	var answers []string
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		c.Send("\r\n         --- System Configuration Dialog ---\r\n\r\n")
		answer, ok := dialog(c, dialogQuestion)
		if !ok {
			return
		}
		answers = append(answers, answer)
		c.Send("\r\nWould you like to terminate autoinstall? [yes]: ")
		for key := byte(0); key != '\r'; {
			if key, ok = c.Key(); !ok {
				return
			}
			answers = append(answers, string(key))
		}
		c.Send("\r\n\r\nPress RETURN to get started!\r\n\r\n")
		shell.Run(c)
	})
	report := mustRun(t, newPool(t, Options{}), server, "cisco_ios_telnet", "show clock")
	wantText(t, report.Outputs[0], clock)
	if got := strings.Join(answers, "|"); got != "no|\r" {
		t.Errorf("answers %q", got)
	}
}

// D6: a device in its first setup is reported as such; no password is made up.
func TestD6EnableSecret(t *testing.T) {
	t.Parallel()
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		if _, ok := dialog(c, dialogQuestion); !ok {
			return
		}
		c.Send("\r\nThe enable secret is a password used to protect access to privileged EXEC\r\n  Enter enable secret: ")
		c.Hang()
	})
	_, err := newPool(t, Options{}).Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"},
		[]string{"show clock"}, nil)
	wantCode(t, err, schema.CodeDeviceQuestion)
	if err != nil && !strings.Contains(err.Error(), "first setup") {
		t.Errorf("message: %v", err)
	}
	received := string(server.Received())
	if after := received[strings.LastIndex(received, "no\r")+3:]; strings.Trim(after, "\x15\r\x03") != "" {
		t.Errorf("typed %q into the setup", after)
	}
}

// A login is reported; nothing is typed into it but what brought it up.
func TestLoginIsReported(t *testing.T) {
	t.Parallel()
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		c.Send("\r\nUser Access Verification\r\n\r\nUsername: ")
		c.Hang()
	})
	_, err := newPool(t, Options{}).Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"},
		[]string{"show clock"}, nil)
	wantCode(t, err, schema.CodeDeviceQuestion)
	if got := server.Received(); len(got) > 0 {
		t.Errorf("typed %q", got)
	}
}

// D19: whatever the device takes for Enter, each command is entered exactly once and its output is its own.
func TestD19Enter(t *testing.T) {
	t.Parallel()
	for name, enter := range map[string]fakeconsole.Enter{
		"CR":          fakeconsole.EnterCR,
		"CRLF is two": fakeconsole.EnterCRLF2,
		"CR NUL":      fakeconsole.EnterCRNUL,
		"LF":          fakeconsole.EnterLF,
	} {
		for _, platform := range []string{"cisco_iosxe", "frr", ""} {
			t.Run(name+" "+platform, func(t *testing.T) {
				t.Parallel()
				shell := ios("R1")
				if platform == "frr" {
					shell.Host, shell.Prompt = "R1", func(host, _ string) string { return host + "# " }
				}
				shell.Enter = enter
				server := fakeconsole.Listen(t, shell.Serve)
				p := newPool(t, Options{})
				for range 2 { // on a fresh and on a kept connection
					report := mustRun(t, p, server, platform, "show clock", "show bogus", "show clock")
					wantText(t, report.Outputs[0], clock)
					wantCode(t, report.Outputs[1].Err, schema.CodeCommandRejected)
					wantText(t, report.Outputs[2], clock)
				}
				count := 0
				for _, line := range shell.Lines() {
					if line == "show clock" {
						count++
					}
				}
				if count != 4 {
					t.Errorf("entered %d times: %q", count, shell.Lines())
				}
			})
		}
	}
}

// D19 on VPCS, which must be spared control keys.
func TestD19EnterVPCS(t *testing.T) {
	t.Parallel()
	for _, enter := range []fakeconsole.Enter{fakeconsole.EnterCR, fakeconsole.EnterLF} {
		shell := vpcs("PC1")
		shell.Enter = enter
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{}), server, "vpcs", "show ip", "show ip")
		for _, o := range report.Outputs {
			wantText(t, o, "\nNAME        : PC1[1]\nIP/MASK     : 10.0.0.1/24")
		}
		if keys := bytes.Trim(server.Received(), "showip \r\n\x03"); len(keys) > 0 {
			t.Errorf("sent %q", keys)
		}
	}
}

// D22: wherever the last user left the console, commands run at the exec prompt, and it is left there.
func TestD22LeftSomewhere(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*fakeconsole.Shell){
		"in an interface":     func(s *fakeconsole.Shell) { s.Mode = "config-if" },
		"in configuration":    func(s *fakeconsole.Shell) { s.Mode = "config" },
		"with half a line":    func(s *fakeconsole.Shell) { s.Half("reload in 1") },
		"half a line, config": func(s *fakeconsole.Shell) { s.Mode = "config-router"; s.Half("no router ospf 1") },
	} {
		for _, platform := range []string{"cisco_iosxe", ""} {
			t.Run(name+platform, func(t *testing.T) {
				shell := ios("R1")
				leave(shell)
				server := fakeconsole.Listen(t, shell.Serve)
				p := newPool(t, Options{})
				report := mustRun(t, p, server, platform, "show clock", "configure terminal")
				wantText(t, report.Outputs[0], clock)
				p.Close()
				if shell.Mode != "" {
					t.Errorf("left in %q", shell.Mode)
				}
				for _, line := range shell.Lines() {
					if strings.Contains(line, "reload") || strings.Contains(line, "ospf") {
						t.Errorf("ran the half line %q", line)
					}
				}
			})
		}
	}
}

// D22: a pager that somebody left open is quit.
func TestD22Pager(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		for { // only q and other letters leave it
			key, ok := c.Key()
			if !ok {
				return
			}
			if key == 'q' {
				break
			}
			if key == '\r' {
				c.Send("\r         \rinterface FastEthernet0/0\r\n --More-- ")
			}
		}
		c.Send("\r         \r\n" + shell.PromptText())
		shell.Run(c)
	})
	report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock")
	wantText(t, report.Outputs[0], clock)
}

// D22: a boot loader is no prompt that commands belong into.
func TestD22BootLoader(t *testing.T) {
	t.Parallel()
	n := 1
	shell := &fakeconsole.Shell{Prompt: func(string, string) string { n++; return "rommon " + string(rune('0'+n%10)) + " > " }}
	server := fakeconsole.Listen(t, shell.Serve)
	_, err := newPool(t, Options{}).Run(t.Context(), Target{Device: "R1", Address: server.Address}, []string{"show clock"}, nil)
	wantCode(t, err, schema.CodeDeviceQuestion)
	for _, line := range shell.Lines() {
		if line != "" {
			t.Errorf("typed %q into the boot loader", line)
		}
	}
}

// D33: a console that accepts and says nothing is reported in time, with the likely reasons.
func TestD33Silent(t *testing.T) {
	t.Parallel()
	server := fakeconsole.Listen(t, (*fakeconsole.Conn).Hang)
	p := newPool(t, Options{PromptTimeout: 700 * time.Millisecond})
	inLimit(t, 20*time.Second, func() {
		_, err := p.Run(t.Context(), Target{Device: "R7", Address: server.Address, Platform: "vpcs"}, []string{"show ip"}, nil)
		wantCode(t, err, schema.CodeConsoleSilent)
		e := schema.AsError(err)
		for _, want := range []string{"R7", server.Address, "booting", "another client"} {
			if !strings.Contains(e.Message+e.Hint, want) {
				t.Errorf("%q is not in %q", want, e.Message+e.Hint)
			}
		}
	})
}

// D34: VPCS hangs up on odd bytes; none are sent, and a hang-up is a failure of its own, not a timeout.
func TestD34VPCSHangsUp(t *testing.T) {
	t.Parallel()
	t.Run("no odd bytes", func(t *testing.T) {
		shell := vpcs("PC1")
		shell.OnKey = func(c *fakeconsole.Conn, key byte) bool {
			if key == 0x03 || key == '\r' {
				return false
			}
			c.Send("\r\nGood-bye\r\n")
			c.Close()
			return true
		}
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{}), server, "", "show ip", "bogus")
		wantText(t, report.Outputs[0], "\nNAME        : PC1[1]\nIP/MASK     : 10.0.0.1/24")
		wantCode(t, report.Outputs[1].Err, schema.CodeCommandRejected)
	})
	t.Run("on connect", func(t *testing.T) {
		server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { c.Send("\r\nGood-bye\r\n") })
		_, err := newPool(t, Options{}).Run(t.Context(), Target{Device: "PC1", Address: server.Address, Platform: "vpcs"},
			[]string{"show ip"}, nil)
		wantCode(t, err, schema.CodeConsoleClosed)
		if err == nil || !strings.Contains(err.Error(), "Good-bye") {
			t.Errorf("the last output is not in %v", err)
		}
	})
}

// D36: a port that refuses for a while is tried again, boot text is waited for, and both have their limits.
func TestD36Booting(t *testing.T) {
	t.Parallel()
	t.Run("refused, then boot text, then a prompt", func(t *testing.T) {
		address := fakeconsole.FreeAddress(t)
		shell := ios("R1")
		listening := time.AfterFunc(800*time.Millisecond, func() {
			fakeconsole.ListenOn(t, address, func(c *fakeconsole.Conn) {
				for range 30 {
					if !c.Send("Initializing flashfs...\r\n") || !c.Pause(50*time.Millisecond) {
						return
					}
				}
				c.Send("\r\nPress RETURN to get started!\r\n\r\n")
				shell.Run(c)
			})
		})
		defer listening.Stop()
		p := newPool(t, Options{PromptTimeout: time.Second})
		report, err := p.Run(t.Context(), Target{Device: "R1", Address: address, Platform: "cisco_iosxe"}, []string{"show clock"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, report.Outputs[0], clock)
		p.Close()
	})
	t.Run("refused for good", func(t *testing.T) {
		p := newPool(t, Options{ConnectTimeout: 300 * time.Millisecond})
		_, err := p.Run(t.Context(), Target{Device: "R1", Address: fakeconsole.FreeAddress(t)}, []string{"show clock"}, nil)
		wantCode(t, err, schema.CodeConsoleRefused)
	})
	t.Run("never a prompt", func(t *testing.T) {
		server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
			c.Send(strings.Repeat("Loading...\r\n", 2*bootLines))
			for c.Send("Loading...\r\n") && c.Pause(patience+100*time.Millisecond) { // keys are tried in the pauses
			}
		})
		p := newPool(t, Options{BootTimeout: 4 * time.Second})
		_, err := p.Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"}, []string{"show clock"}, nil)
		wantCode(t, err, schema.CodeConsoleSilent)
		if err == nil || !strings.Contains(err.Error(), "booting") || !strings.Contains(err.Error(), "Loading...") {
			t.Errorf("message: %v", err)
		}
		if bytes.ContainsAny(server.Received(), "\x03\x1e") {
			t.Error("a booting device was interrupted")
		}
	})
}
