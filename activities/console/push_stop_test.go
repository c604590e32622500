package console

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// D24: the first line that the device refuses stops the Push and is named, with the device's own words.
func TestD24PushRejected(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"           ^\r\n% Invalid input detected at '^' marker.\r\n\r\n":             "% Invalid input detected at '^' marker.",
		"% Incomplete command.\r\n\r\n":                                               "% Incomplete command.",
		"% 10.0.0.0 overlaps with Loopback1\r\n":                                      "% 10.0.0.0 overlaps with Loopback1",
		"%Invalid hex value\r\n":                                                      "%Invalid hex value",
		"Command rejected: Conflict between IP and IPX\r\n":                           "Command rejected: Conflict",
		"a\r\nb\r\nc\r\nd\r\ne\r\nf\r\n% Configuration failed.\r\nWhy: no memory\r\n": "% Configuration failed. Why: no memory",
		"*Nov 22 10:11:12.345: %LINK-3-UPDOWN: up\r\n% Bad mask /33\r\n":              "% Bad mask /33",
	}
	for answer, said := range answers {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.answers["wrong line"] = answer
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			report, err := stopped(t, p, server, schema.CodeCommandRejected, 2, 3, "interface lo0", "shutdown", "wrong line", "no shutdown", "exit")
			if !strings.Contains(fmt.Sprint(err), "R1 rejected line 3 of 5: `wrong line`: "+said) {
				t.Errorf("error %v", err)
			}
			if report.InDoubt || !strings.HasSuffix(report.After, "hostname R1\nend") {
				t.Errorf("report %+v", report)
			}
			device.wantTyped(t, "interface lo0", "shutdown", "wrong line")
			wantAtExec(t, p, server, 1)
		})
	}
}

// D23: no line is sent when the device doesn't enter configuration mode, and its own words are in the error.
func TestD23PushModeRefused(t *testing.T) {
	t.Parallel()
	const locked = "Configuration mode is locked by process '3' user 'NETCONF' from terminal '0'. Please try later."
	tests := []struct {
		name, answer, said string
		code               schema.Code
	}{
		{"invalid", "   ^\r\n% Invalid input detected at '^' marker.\r\n", "% Invalid input", schema.CodeCommandRejected},
		{"locked", locked + "\r\n", locked, schema.CodeCommandRejected},
		{"silently", "", "R1 did not enter", schema.CodeCommandRejected},
		{"question", "?", "Password", schema.CodeDeviceQuestion},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.special = func(c *fakeconsole.Conn, line string) bool {
				if test.answer == "?" {
					return device.asks("configure terminal", "Password: ", true)(c, line)
				}
				if line == "configure terminal" {
					c.Send(test.answer)
				}
				return line == "configure terminal"
			}
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			report, err := stopped(t, p, server, test.code, 0, 0, "interface lo0", "shutdown")
			if !strings.Contains(fmt.Sprint(err), "no line was sent") || !strings.Contains(fmt.Sprint(err), test.said) || report.InDoubt {
				t.Errorf("error %v, report %+v", err, report)
			}
			device.wantTyped(t)
			wantAtExec(t, p, server, 1)
		})
	}
}

// D9, D21: a question stops the Push; neither we nor the next line answer it.
func TestD21PushQuestions(t *testing.T) {
	t.Parallel()
	for i, question := range []string{"Continue? [confirm]", "Save? [yes/no]: ", "Are you sure to continue? (y/n)[n]:", "[Y/N]:", "Password: ",
		"Destination filename [startup-config]? "} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.special = device.asks("do save", question, i%2 == 0)
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			report, err := stopped(t, p, server, schema.CodeDeviceQuestion, 1, 2, "interface lo0", "do save", "y")
			if text := report.Outputs[1].Text; report.InDoubt || text != "About to do it\n"+question {
				t.Errorf("report %+v", report)
			}
			if !strings.Contains(fmt.Sprint(err), "line 2 of 3: `do save`") {
				t.Errorf("error %v", err)
			}
			device.wantTyped(t, "interface lo0", "do save")
			wantAtExec(t, p, server, 1)
		})
	}
}

// D31: a text that the device ends early, refuses, or that is given up, doesn't make commands of its lines.
func TestD31PushBannerStops(t *testing.T) {
	t.Parallel()
	t.Run("ended early", func(t *testing.T) {
		t.Parallel()
		device := configurable("R1")
		server := fakeconsole.Listen(t, device.Serve)
		p := newPool(t, Options{})
		// The device takes `^` for the delimiter, and so ends at the second line.
		report, err := stopped(t, p, server, schema.CodeCommandRejected, 2, 2, "banner motd ^C", "up ^ there", "no router ospf 1", "^C")
		if report.InDoubt || !strings.Contains(fmt.Sprint(err), "line 3 of 4") {
			t.Errorf("error %v, report %+v", err, report)
		}
		device.wantTyped(t, "banner motd ^C")
		wantAtExec(t, p, server, 1)
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		device := configurable("R1")
		device.answers["banner motd ^C"] = "% Invalid input detected at '^' marker.\r\n"
		server := fakeconsole.Listen(t, device.Serve)
		p := newPool(t, Options{})
		stopped(t, p, server, schema.CodeCommandRejected, 0, 1, "banner motd ^C", "no router ospf 1", "^C")
		device.wantTyped(t, "banner motd ^C")
		wantAtExec(t, p, server, 1)
	})
	t.Run("vetoed", func(t *testing.T) {
		t.Parallel()
		device := configurable("R1")
		server := fakeconsole.Listen(t, device.Serve)
		p := newPool(t, Options{})
		request := PushRequest{Lines: []string{"banner motd #", "one", "two", "#"}, Before: func(_ context.Context, i int) error {
			if i == 2 {
				return schema.Errorf(schema.CodeConflict, "no")
			}
			return nil
		}}
		_, err := p.Push(t.Context(), at(server, "cisco_iosxe"), request, nil)
		wantCode(t, err, schema.CodeConflict)
		wantAtExec(t, p, server, 1)
	})
}

// Lines after one that leaves configuration mode would run as commands: they are not typed.
func TestPushLeavesMode(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	report, err := stopped(t, p, server, schema.CodeInvalid, 4, 4, "interface lo0", "exit", "exit", "! then", "write memory")
	if report.InDoubt || !strings.Contains(fmt.Sprint(err), "line 5 of 5: `write memory`") {
		t.Errorf("error %v, report %+v", err, report)
	}
	device.wantTyped(t, "interface lo0", "exit", "exit")
	if report := mustPush(t, p, server, "cisco_iosxe", "interface lo1", "exit", "exit", "", "! done"); len(report.Mode) != 1 {
		t.Errorf("mode %q", report.Mode)
	}
	wantAtExec(t, p, server, 1)
}

// Lines that can't end well are refused before anything is typed.
func TestPushInvalid(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	for name, lines := range map[string][]string{
		"none": nil, "two in one": {"interface lo0\rshutdown"}, "line end": {"interface lo0\n"}, "tab": {"inter\t"}, "control": {"a\x1a"},
		"end in the middle": {"interface lo0", "End ", "! x", "write memory"}, "text without end": {"banner motd #", "hello"},
	} {
		report, err := stopped(t, p, server, schema.CodeInvalid, 0, 0, lines...)
		if len(report.Mode) > 0 {
			t.Errorf("%s: %v, %+v", name, err, report)
		}
	}
	device.wantTyped(t)
	wantAtExec(t, p, server, 1)
}

// D32: what a person types meanwhile is not mixed into a line; when they leave the mode, no line is typed.
func TestD32PushForeignText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		foreign, half, mode string
		taken               int
	}{
		"half a line":             {"no ip rou", "no ip rou", "config", 3},
		"left the mode":           {"end\r\nR1#", "", "", 1},
		"left it, with a message": {"end\r\nR1#\r\n*Nov 22 10:11:12.345: %SYS-5-CONFIG_I: Configured from console\r\n", "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			taken, meddled := make(chan struct{}), make(chan struct{})
			device.special = func(c *fakeconsole.Conn, line string) bool {
				if line != "first line" {
					return false
				}
				c.Send(device.PromptText())
				<-taken // the device waits for the next line
				c.Send(test.foreign)
				device.Half(test.half)
				device.Mode, device.Skip = test.mode, true
				c.Pause(50 * time.Millisecond)
				close(meddled)
				return true
			}
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			request := PushRequest{Lines: []string{"first line", "second line", "third line"}}
			request.Acked = func(_ context.Context, i int, _ string) error {
				if i == 0 {
					close(taken)
					<-meddled
				}
				return nil
			}
			report, err := p.Push(t.Context(), at(server, "cisco_iosxe"), request, nil)
			if test.taken < 3 {
				wantCode(t, err, schema.CodeInvalid)
			} else if err != nil {
				t.Errorf("Push: %v", err)
			}
			if report.Acked != test.taken || report.InDoubt {
				t.Errorf("report %+v", report)
			}
			device.wantTyped(t, request.Lines[:test.taken]...)
			wantAtExec(t, p, server, 1)
		})
	}
}

// Secrets in lines don't get into messages.
func TestPushMasksSecrets(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	device.answers["enable secret hunter2"] = "% Unknown command: enable secret hunter2\r\n"
	device.special = hangs("snmp-server community hunter2 RO", "")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{CommandTimeout: 100 * time.Millisecond})
	for line, code := range map[string]schema.Code{"enable secret hunter2": schema.CodeCommandRejected,
		"snmp-server community hunter2 RO": schema.CodeCommandTimeout} {
		var details []string
		_, err := p.Push(t.Context(), at(server, "cisco_iosxe"), PushRequest{Lines: []string{line}},
			func(_ string, _, _ int, detail string) { details = append(details, detail) })
		wantCode(t, err, code)
		if text := fmt.Sprint(err, details); strings.Contains(text, "hunter2") || !strings.Contains(text, line[:12]) {
			t.Errorf("said %q", text)
		}
	}
}
