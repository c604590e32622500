package console

import (
	"fmt"
	"strings"
	"testing"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// D21: a question is returned and not answered, and the next command isn't typed into it.
func TestD21Questions(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"Delete flash:x? [confirm]", "Destination filename [startup-config]? ", "Proceed? [y/n]: ", "Password: ",
		"Target IP address: "} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			shell := ios("R1")
			var answer string
			shell.On = func(c *fakeconsole.Conn, command string) bool {
				if command != "delete flash:x" {
					return false
				}
				c.Send("About to delete\r\n" + question)
				for {
					key, ok := c.Key()
					if !ok || key == 0x03 {
						c.Send("\r\n")
						return true
					}
					answer += string(key)
				}
			}
			server := fakeconsole.Listen(t, shell.Serve)
			report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "delete flash:x", "show clock")
			wantCode(t, report.Outputs[0].Err, schema.CodeDeviceQuestion)
			if want := "About to delete\n" + question; report.Outputs[0].Text != want {
				t.Errorf("text %q, want %q", report.Outputs[0].Text, want)
			}
			if err := report.Outputs[0].Err; err != nil && !strings.Contains(err.Message, strings.TrimSpace(question)) {
				t.Errorf("the question is not in %q", err.Message)
			}
			wantText(t, report.Outputs[1], clock)
			if answer != "" {
				t.Errorf("answered %q", answer)
			}
		})
	}
	t.Run("and the connection drops", func(t *testing.T) {
		shell := ios("R1")
		shell.On = func(c *fakeconsole.Conn, command string) bool {
			if command == "reload" {
				c.Send("\r\nSystem configuration has been modified. Save? [yes/no]: ")
				c.Key()
				c.Close()
			}
			return command == "reload"
		}
		server := fakeconsole.Listen(t, shell.Serve)
		report, err := newPool(t, Options{}).Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"},
			[]string{"reload", "show clock"}, nil)
		wantCode(t, err, schema.CodeDeviceQuestion)
		if len(report.Outputs) != 1 {
			t.Fatalf("outputs %+v", report.Outputs)
		}
		if n := strings.Count(string(server.Received()), "show clock"); n > 0 {
			t.Error("the next command was typed into the question")
		}
	})
}

// A command that ends in '?' is answered by the help key on IOS and FRR, and nothing stays typed.
func TestHelpKey(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	helped := ""
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		for {
			key, ok := c.Key()
			switch {
			case !ok:
				return
			case key == '?':
				c.Send("?\r\n  interface  IP interface status\r\n  route      IP routing table\r\n\r\n" + shell.PromptText() + helped)
			case key == '\r':
				c.Send("\r\n")
				if helped != "" {
					c.Send(shell.Replies[helped])
				}
				helped = ""
				c.Send(shell.PromptText())
			case key == 0x15:
				c.Send(strings.Repeat("\b \b", len(helped)))
				helped = ""
			case key >= ' ':
				helped += string(key)
				c.Send(string(key))
			}
		}
	})
	report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show ip ?", "show clock", "?")
	wantText(t, report.Outputs[0], "  interface  IP interface status\n  route      IP routing table")
	wantText(t, report.Outputs[1], clock)
	wantText(t, report.Outputs[2], "  interface  IP interface status\n  route      IP routing table")
}

// A pager that the device still shows is paged through, and leaves no trace.
func TestPager(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if command != "show running-config" {
			return false
		}
		for i := range 5 {
			c.Send(fmt.Sprintf("line %d \r\n\r\n --More-- ", i))
			if key, ok := c.Key(); !ok || key != ' ' {
				return true
			}
			c.Send("\b\b\b\b\b\b\b\b\b        \b\b\b\b\b\b\b\b\b")
		}
		c.Send("e\r\n")
		return true
	}
	server := fakeconsole.Listen(t, shell.Serve)
	report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show running-config", "show clock")
	wantText(t, report.Outputs[0], "line 0 \n\nline 1 \n\nline 2 \n\nline 3 \n\nline 4 \n\ne")
	wantText(t, report.Outputs[1], clock)
}

// What is not one line of text is not sent.
func TestCommandsAreSingleLines(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	server := fakeconsole.Listen(t, shell.Serve)
	report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock\rreload", "  ", "show\tclock", "a\x03", "show clock")
	for _, o := range report.Outputs[:4] {
		wantCode(t, o.Err, schema.CodeInvalid)
	}
	wantText(t, report.Outputs[4], clock)
	if strings.Contains(string(server.Received()), "reload") {
		t.Error("sent the second line")
	}
}

// A console without echo is not typed into blindly: the line is withdrawn, and Enter never pressed.
func TestNoEcho(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	shell.On = func(_ *fakeconsole.Conn, command string) bool {
		if command == "echo off" || command == "echo on" {
			shell.NoEcho = command == "echo off"
			return true
		}
		return false
	}
	server := fakeconsole.Listen(t, shell.Serve)
	report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock", "echo off", "clear counters")
	wantText(t, report.Outputs[0], clock)
	wantCode(t, report.Outputs[2].Err, schema.CodeConsoleSilent)
	for _, line := range shell.Lines() {
		if line == "clear counters" {
			t.Error("the command was entered without its echo")
		}
	}
}
