package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// D1: messages that the device prints on its own are output, never a prompt, wherever they come.
func TestD1SyslogMessages(t *testing.T) {
	t.Parallel()
	const log = "*Nov 22 10:11:12.345: %SYS-5-CONFIG_I: Configured from console by console"
	tests := []struct{ name, echo, output, prompt, want string }{
		{"before the prompt", "show clock\r\n", clock + "\r\n" + log + "\r\n", "R1#", clock + "\n" + log},
		{"in the output", "show clock\r\n", log + "\r\n" + clock + "\r\n", "R1#", log + "\n" + clock},
		{"after the prompt", "show clock\r\n", clock + "\r\n", "R1#\r\n" + log + "\r\n", clock + "\n" + log},
		{"glued to the prompt", "show clock\r\n", clock + "\r\n", "R1#" + log + "\r\n", clock + "\n" + log},
		{"after it, prompt again", "show clock\r\n", clock + "\r\n", "R1#\r\n" + log + "\r\nR1#", clock + "\n" + log},
		{"splitting it, glued", "show clock\r\n", clock + "\r\n", "R" + log + "\r\n1#", clock + "\n" + log},
		{"splitting it", "show clock\r\n", clock + "\r\n", "R1\r\n" + log + "\r\n#", clock + "\n" + log},
		{"two of them", "show clock\r\n", clock + "\r\n", "R1#\r\n" + log + "\r\n" + log + "\r\n", clock + "\n" + log + "\n" + log},
		{"in the echo", "sho\r\n" + log + "\r\nw clock\r\n", clock + "\r\n", "R1#", log + "\n" + clock},
		{"in the echo, line again", "sho\r\n" + log + "\r\nR1#show clock\r\n", clock + "\r\n", "R1#", log + "\n" + clock},
	}
	for _, test := range tests {
		for _, cut := range []int{0, 1} {
			t.Run(fmt.Sprint(test.name, " cut ", cut), func(t *testing.T) {
				t.Parallel()
				shell := ios("R1")
				server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
					c.Cut = cut
					shell.On = func(c *fakeconsole.Conn, command string) bool {
						if command != "terminal length 0" {
							return false
						}
						// The next command is played back key by key.
						shell.Skip = true
						c.Send(shell.PromptText())
						echo, enter, _ := strings.Cut(test.echo, "clock\r\n")
						for range "show clock" {
							c.Key()
						}
						c.Send(echo + "clock")
						c.Key() // Enter
						c.Send("\r\n" + enter + test.output + test.prompt)
						return true
					}
					shell.Serve(c)
				})
				report := mustRun(t, newPool(t, Options{CommandTimeout: 5 * time.Second}), server, "cisco_iosxe", "show clock", "show clock")
				if report.Outputs[0].Text == clock { // a message behind the prompt came too late to belong to it
					wantText(t, report.Outputs[0], clock)
				} else {
					wantText(t, report.Outputs[0], test.want)
				}
				if !strings.Contains(report.Outputs[1].Text, clock) || report.Outputs[1].Err != nil {
					t.Errorf("next command: %+v", report.Outputs[1])
				}
			})
		}
	}
}

// D10: control codes in echo and output vanish, whatever the cuts.
func TestD10ControlCodes(t *testing.T) {
	t.Parallel()
	const command = "display interface description of all"
	for _, cut := range []int{0, 1, 2, 3} {
		shell := ios("R1")
		server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
			c.Cut = cut
			shell.NoEcho = true
			shell.On = func(c *fakeconsole.Conn, line string) bool {
				if line != command {
					return false
				}
				c.Send("\x1b[1mone\x1b[0m\x1b[K\r\n\x1b[7m--More--\x1b[27m")
				if key, _ := c.Key(); key != ' ' {
					return false
				}
				c.Send("\r\x1b[Ktwo\x1bEthree\r\n\x1b[Afour  \r\n10%\r 20%\r100%\r\n  --More-- ")
				c.Key()
				c.Send("\b\b\b\b\b\b\b\b\b\b\b          \b\b\b\b\b\b\b\b\b\b\b five\r\nabc\b\b\bxyz\b \b\r\n\a\r\n")
				return true
			}
			// Each key is echoed the way Huawei does for long lines: the line from its start.
			typed := ""
			shell.OnKey = func(_ *fakeconsole.Conn, key byte) bool { typed = ""; return key == 0x15 }
			echoing(shell, c, &typed)
		})
		report := mustRun(t, newPool(t, Options{CommandTimeout: 5 * time.Second}), server, "cisco_iosxe", command)
		wantText(t, report.Outputs[0], "one\ntwo\nthree\nfour  \n100%\n five\nxy")
	}
}

// echoing serves a shell whose echo rewrites the whole line after each key with cursor-left codes.
func echoing(shell *fakeconsole.Shell, c *fakeconsole.Conn, typed *string) {
	for {
		key, ok := c.Key()
		if !ok {
			return
		}
		switch {
		case key == '\r':
			line := *typed
			*typed = ""
			c.Send("\r\n")
			if line != "" && (shell.On == nil || !shell.On(c, line)) && shell.Replies[line] != "" {
				c.Send(shell.Replies[line])
			}
			c.Send(shell.PromptText())
		case key < ' ':
			*typed = ""
		default:
			back := ""
			if n := len(*typed); n > 0 {
				back = fmt.Sprintf("\x1b[%dD", n)
			}
			*typed += string(key)
			c.Send(back + *typed + "\x1b[K")
		}
	}
}

// D12: a long hostname, shown cut short in configuration mode, and a prompt that differs between the modes.
func TestD12Prompts(t *testing.T) {
	t.Parallel()
	const long = "router-with-a-name-of-32-letters"
	cut := func(host, mode string) string {
		if mode == "" {
			return host + "#"
		}
		return host[:min(20, len(host))] + "(" + mode + ")#"
	}
	custom := func(host, mode string) string {
		if mode == "" {
			return host + "-x#"
		}
		return host + "(" + mode + ")#"
	}
	for name, shell := range map[string]*fakeconsole.Shell{
		"long": {Host: long, Prompt: cut}, "custom": {Host: "R1", Prompt: custom},
		"long, left in configuration": {Host: long, Prompt: cut, Mode: "config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell.Replies = ios("").Replies
			shell.On = func(_ *fakeconsole.Conn, command string) bool {
				if strings.HasPrefix(command, "interface ") {
					shell.Mode = "config-if"
				}
				return strings.HasPrefix(command, "interface ")
			}
			server := fakeconsole.Listen(t, shell.Serve)
			p := newPool(t, Options{CommandTimeout: 5 * time.Second})
			report := mustRun(t, p, server, "cisco_iosxe", "show clock", "configure terminal", "interface lo0", "description x", "end", "show clock")
			for i, o := range report.Outputs {
				want := ""
				if i == 0 || i == 5 {
					want = clock
				}
				wantText(t, o, want)
			}
		})
	}
}

// D13: the hostname changes under way; no timeout, and the next output is clean.
func TestD13HostnameChanges(t *testing.T) {
	t.Parallel()
	t.Run("ios", func(t *testing.T) {
		shell := ios("R1")
		shell.On = func(_ *fakeconsole.Conn, command string) bool {
			name, ok := strings.CutPrefix(command, "hostname ")
			if ok {
				shell.Host = name
			}
			return ok
		}
		server := fakeconsole.Listen(t, shell.Serve)
		p := newPool(t, Options{CommandTimeout: 5 * time.Second})
		report := mustRun(t, p, server, "cisco_iosxe", "configure terminal", "hostname NEW", "interface lo0", "end", "show clock")
		wantText(t, report.Outputs[1], "")
		wantText(t, report.Outputs[4], clock)
		wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
	})
	t.Run("vpcs", func(t *testing.T) {
		shell := vpcs("VPCS")
		shell.On = func(_ *fakeconsole.Conn, command string) bool {
			name, ok := strings.CutPrefix(command, "set pcname ")
			if ok {
				shell.Host = name
			}
			return ok
		}
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{CommandTimeout: 5 * time.Second}), server, "vpcs", "set pcname bob", "show ip")
		wantText(t, report.Outputs[0], "")
		wantText(t, report.Outputs[1], "\nNAME        : PC1[1]\nIP/MASK     : 10.0.0.1/24")
	})
}

// D14: text that looks like a prompt is output, however it is cut and however long the device stops behind it.
func TestD14BannersAreNoPrompts(t *testing.T) {
	t.Parallel()
	banner := []string{"Building configuration...", "", "banner motd ^C", "|bla bla|", "######", "Authorized only>", "Cisco#",
		"access(config)#", "R1", "R1# is here", "^C", "!", "Password: ", "end"}
	for name, pause := range map[string]time.Duration{"at once": 0, "each the last of a read": 5 * time.Millisecond, "stalling": 700 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := ios("R1")
			shell.On = func(c *fakeconsole.Conn, command string) bool {
				if command != "show running-config" {
					return false
				}
				for _, line := range banner {
					// The line is the end of a read; its line end comes with the next.
					stops := pause < 100*time.Millisecond || strings.HasSuffix(line, "#") || strings.HasSuffix(line, ">")
					if !c.Send(line) || stops && pause > 0 && line != "Password: " && !c.Pause(pause) || !c.Send("\r\n") {
						return true
					}
				}
				return true
			}
			server := fakeconsole.Listen(t, shell.Serve)
			report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show running-config", "show clock")
			wantText(t, report.Outputs[0], strings.Join(banner, "\n"))
			wantText(t, report.Outputs[1], clock)
		})
	}
}

// Output is the device's bytes to the last blank: recorded from real devices, cut in every way.
func TestRecordedOutputs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		platform, prompt, wirePrompt string
		commands                     map[string]string
	}{
		{"frr", "C1# ", "C1# ", map[string]string{"show version": "frr/show_version", "show ip route": "frr/show_ip_route",
			"show running-config": "frr/show_running-config"}},
		{"vpcs", "VPCS> ", "\r\n\rVPCS> ", map[string]string{"show ip": "vpcs/show_ip", "version": "vpcs/version", "show": "vpcs/show",
			"ping 1.2.0.9 -c 1": "vpcs/ping_unreachable"}},
	}
	for _, test := range tests {
		for _, cut := range []int{0, 1, 7} {
			shell := &fakeconsole.Shell{Prompt: func(string, string) string { return test.prompt }, Replies: map[string]string{}}
			shell.AfterLine = strings.TrimSuffix(test.wirePrompt, test.prompt)
			var commands []string
			for command, name := range test.commands {
				shell.Replies[command] = recorded(t, name, test.wirePrompt)
				commands = append(commands, command)
			}
			server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { c.Cut = cut; shell.Serve(c) })
			report := mustRun(t, newPool(t, Options{}), server, test.platform, commands...)
			for _, o := range report.Outputs {
				want := strings.NewReplacer("\r\r\n", "\n", "\r\n", "\n").Replace(shell.Replies[o.Command])
				wantText(t, o, strings.TrimRight(want, "\n"))
			}
		}
	}
}

// Rejections as the real devices word them make the command failed; the next one runs.
func TestD24Rejections(t *testing.T) {
	t.Parallel()
	tests := []struct{ platform, prompt, reply, line string }{
		{"cisco_iosxe", "R1#", "           ^\r\n% Invalid input detected at '^' marker.\r\n\r\n", "% Invalid input detected at '^' marker."},
		{"cisco_iosxe", "R1#", "% Incomplete command.\r\n\r\n", "% Incomplete command."},
		{"cisco_iosxe", "R1#", "% Ambiguous command:  \"sh\"\r\n", `% Ambiguous command:  "sh"`},
		{"cisco_iosxe", "R1#", "Translating \"bogus\"\r\n% Unknown command or computer name, or unable to find computer address\r\n",
			"% Unknown command or computer name, or unable to find computer address"},
		{"frr", "R1# ", recorded(t, "frr/unknown", "C1# "), "% Unknown command: foo"},
		{"frr", "R1# ", recorded(t, "frr/incomplete", "C1# "), "% Command incomplete: show"},
		{"vpcs", "PC1> ", recorded(t, "vpcs/bad", "\r\n\rVPCS> "), `Bad command: "foo". Use ? for help.`},
		{"vpcs", "PC1> ", "Cannot resolve abc\r\n", "Cannot resolve abc"},
		{"vpcs", "PC1> ", "Invalid command.\r\n", "Invalid command."},
	}
	for _, test := range tests {
		shell := &fakeconsole.Shell{Prompt: func(string, string) string { return test.prompt },
			Replies: map[string]string{"first": "ok\r\n", "bad": test.reply, "last": "ok\r\n",
				"show logging": lines("a", "b", "c", "d", "e", "f", test.line)}}
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{}), server, test.platform, "first", "bad", "last", "show logging")
		wantText(t, report.Outputs[0], "ok")
		wantCode(t, report.Outputs[1].Err, schema.CodeCommandRejected)
		if err := report.Outputs[1].Err; err != nil && !strings.HasSuffix(err.Message, test.line) {
			t.Errorf("%q doesn't name %q", err.Message, test.line)
		}
		wantText(t, report.Outputs[2], "ok")
		wantText(t, report.Outputs[3], "a\nb\nc\nd\ne\nf\n"+test.line) // the same words in a log are no rejection
	}
}
