package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// D14: a read that ends right behind the prompt's text in a line of output is not the end of the output.
func TestD14ReadEndsBehindPrompt(t *testing.T) {
	t.Parallel()
	const rest = "show ip route\r\nanother line\r\n"
	for name, before := range map[string]string{"after lines of output": "line one\r\nR1#", "as the first line": "R1#"} {
		for _, read := range []int{readSize, readSize - len("\r\n")} { // the echo's line end may be read with it, or before
			t.Run(fmt.Sprint(name, " ", read), func(t *testing.T) {
				t.Parallel()
				output := strings.Repeat("\a", read-len(before)) + before + rest // bells fill the first read
				shell := ios("R1")
				shell.Replies["show x"] = output
				server := fakeconsole.Listen(t, shell.Serve)
				report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show x", "show clock")
				wantText(t, report.Outputs[0], strings.TrimRight(strings.ReplaceAll(before+rest, "\r\n", "\n"), "\n"))
				wantText(t, report.Outputs[1], clock)
			})
		}
	}
}

// D11: a device that can't be told the width of the terminal breaks a long line in its own way. Such an echo is one.
func TestD11WrappedEcho(t *testing.T) {
	t.Parallel()
	for _, size := range []int{60, 72, 75, 76, 77, 90, 156, 170} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.Width = 80
			device.Prompt = func(host, mode string) string {
				if mode != "" {
					mode = "(" + mode + ")"
				}
				return host + mode + "# "
			}
			command := "show " + strings.Repeat("a b ", size)[:size-6] + "c"
			device.Replies[command] = "result\r\n"
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			wantText(t, mustRun(t, p, server, "frr", command).Outputs[0], "result")
			line := "description " + strings.Repeat("a b ", size)[:size-13] + "c"
			mustPush(t, p, server, "frr", "interface lo0", line, "shutdown")
			device.wantTyped(t, "interface lo0", line, "shutdown")
		})
	}
	t.Run("not as typed", func(t *testing.T) {
		t.Parallel()
		line := "description " + strings.Repeat("0123456789", 10)
		device := configurable("R1")
		device.special = func(c *fakeconsole.Conn, got string) bool {
			if got != "interface lo0" {
				return false
			}
			device.Skip = true
			c.Send(device.PromptText())
			for range line {
				c.Key()
			}
			c.Send(line[:60] + " \r" + line[61:]) // one lost
			c.Key()
			c.Key()
			device.Mode = ""
			c.Send("\r\n" + device.PromptText())
			return true
		}
		server := fakeconsole.Listen(t, device.Serve)
		stopped(t, newPool(t, Options{}), server, schema.CodeConsoleSilent, 1, 2, "interface lo0", line)
	})
}

// D1: a command that has the looks of a device's own message in it is not one.
func TestD1MessageInCommand(t *testing.T) {
	t.Parallel()
	const log = "*Mar  1 00:01:00.000: %SYS-5-CONFIG_I: Configured from console by console"
	for _, command := range []string{"show logging | include %SYS-5-CONFIG_I: Configured", "show logging | include *Mar  1 00:01:00.000: %SYS-5-CONFIG_I: "} {
		shell := ios("R1")
		shell.Replies[strings.TrimSpace(command)] = log + "\r\n"
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", command, "show clock")
		wantText(t, report.Outputs[0], log)
		wantText(t, report.Outputs[1], clock)
	}
	t.Run("glued to the echo", func(t *testing.T) {
		shell := ios("R1")
		shell.On = func(c *fakeconsole.Conn, command string) bool {
			if command != "terminal length 0" {
				return false
			}
			shell.Skip = true
			c.Send(shell.PromptText())
			for range "show up" {
				c.Key()
			}
			c.Send("show up")
			c.Key() // Enter
			c.Send("*Nov 22 10:11:12.345: %LINK-3-UPDOWN: Interface Loopback0, changed state to up\r\nresult\r\n" + shell.PromptText())
			return true
		}
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show up")
		wantText(t, report.Outputs[0], "*Nov 22 10:11:12.345: %LINK-3-UPDOWN: Interface Loopback0, changed state to up\nresult")
	})
}

// Output that does not end its line runs into the prompt. The prompt is found there and taken off, and nothing is interrupted.
func TestOutputWithoutLineEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		platform, output, want string
		shell                  *fakeconsole.Shell
	}{
		"short":     {"cisco_iosxe", "no newline at end", "no newline at end", ios("R1")},
		"a word":    {"cisco_iosxe", "end", "end", ios("R1")},
		"long line": {"cisco_iosxe", strings.Repeat("0123456789", 100), strings.Repeat("0123456789", 100), ios("R1")},
		"lines":     {"cisco_iosxe", "one\r\n\r\ntwo ", "one\n\ntwo ", ios("R1")},
		"FRR":       {"frr", "no newline at end", "no newline at end", &fakeconsole.Shell{Prompt: func(string, string) string { return "R1# " }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.shell.Replies = map[string]string{"show x": test.output, "show clock": clock + "\r\n"}
			server := fakeconsole.Listen(t, test.shell.Serve)
			report := mustRun(t, newPool(t, Options{CommandTimeout: 10 * time.Second}), server, test.platform, "show x", "show clock")
			wantText(t, report.Outputs[0], test.want)
			wantText(t, report.Outputs[1], clock)
			if keys := string(server.Received()); strings.ContainsAny(keys, "\x03\x1e") {
				t.Errorf("pressed %q", keys)
			}
		})
	}
	t.Run("a pause behind the same text", func(t *testing.T) {
		t.Parallel()
		shell := ios("R1")
		shell.On = func(c *fakeconsole.Conn, command string) bool {
			if command != "show x" {
				return false
			}
			c.Send("the prompt is R1#")
			if key, _ := c.Key(); key != '\r' {
				t.Errorf("pressed %q", key)
			}
			c.Send("\r\nlast line\r\n" + shell.PromptText() + "\r\n") // Enter waited until the command was over
			return true
		}
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show x", "show clock")
		wantText(t, report.Outputs[0], "the prompt is R1#\nlast line")
		wantText(t, report.Outputs[1], clock)
	})
}
