package console

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

const proceed = "Proceed with reload? [confirm]"

// asker is a router that asks questions after a command, until one isn't confirmed. It records what it is answered with.
func asker(command string, questions ...string) (shell *fakeconsole.Shell, answers *[]byte) {
	shell, answers = ios("R1"), new([]byte)
	shell.On = func(c *fakeconsole.Conn, got string) bool {
		for _, question := range questions {
			if got != command {
				break
			}
			c.Send(question)
			key, ok := c.Key()
			if ok {
				*answers = append(*answers, key)
			}
			c.Send("\r\n")
			if !ok || key != '\r' {
				break
			}
		}
		return got == command
	}
	return shell, answers
}

func runConfirmed(t *testing.T, p *Pool, server *fakeconsole.Server, command string) (Report, error) {
	t.Helper()
	report, err := p.RunConfirmed(t.Context(), at(server, "cisco_iosxe"), command, nil)
	if len(report.Outputs) != 1 {
		t.Fatalf("outputs %+v, error %v", report.Outputs, err)
	}
	return report, err
}

// Each [confirm] gets one Enter, three at most. Other questions are cancelled, wherever they come.
func TestRunConfirmed(t *testing.T) {
	t.Parallel()
	const save = "System configuration has been modified. Save? [yes/no]: "
	first, second, third, fourth := "Clear all counters [confirm]", "Really? [confirm]", "Sure? [confirm] ", "Quite? [confirm]"
	tests := []struct {
		name, answers string
		questions     []string
		code          schema.Code
	}{
		{"none", "", nil, ""},
		{"one", "\r", []string{first}, ""},
		{"three", "\r\r\r", []string{first, second, third}, ""},
		{"the same again", "\r\r", []string{first, first}, ""},
		{"four", "\r\r\r\x03", []string{first, second, third, fourth}, schema.CodeDeviceQuestion},
		{"save", "\x03", []string{save, proceed}, schema.CodeDeviceQuestion},
		{"yes or no behind it", "\r\x03", []string{first, save}, schema.CodeDeviceQuestion},
		{"file name", "\x03", []string{"Destination filename [startup-config]? "}, schema.CodeDeviceQuestion},
		{"file name behind it", "\r\x03", []string{first, "Destination filename [startup-config]? "}, schema.CodeDeviceQuestion},
		{"password", "\x03", []string{"Password: "}, schema.CodeDeviceQuestion},
		{"confirm elsewhere", "\x03", []string{"Answer [confirm] or [cancel]: "}, schema.CodeDeviceQuestion},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			shell, answers := asker("clear counters", test.questions...)
			server := fakeconsole.Listen(t, shell.Serve)
			p := newPool(t, Options{})
			report, err := runConfirmed(t, p, server, "clear counters")
			if err != nil || report.Note != "" || report.Outputs[0].Prompt != "R1#" {
				t.Errorf("error %v, report %+v", err, report)
			}
			wantCode(t, report.Outputs[0].Err, test.code)
			wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
			p.Close()
			if string(*answers) != test.answers || server.Accepted() != 1 {
				t.Errorf("answers %q, want %q; %d connections", *answers, test.answers, server.Accepted())
			}
			if e := report.Outputs[0].Err; e != nil && strings.Contains(e.Message, "Save?") &&
				e.Hint != "Save the configuration first (write memory) or answer on the device's console." {
				t.Errorf("hint %q", e.Hint)
			}
			asked := len(test.answers)
			if want := strings.TrimSpace(strings.Join(test.questions[:asked], "\n")); strings.TrimSpace(report.Outputs[0].Text) != want {
				t.Errorf("text %q, want %q", report.Outputs[0].Text, want)
			}
		})
	}
}

// Only a question that is complete and has nothing behind it is confirmed, and a slow device gets no second Enter.
func TestRunConfirmedSlowly(t *testing.T) {
	t.Parallel()
	var answers []byte
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if command != "clear counters" {
			return false
		}
		c.Send("Type [confirm]")
		early, _ := c.KeyWithin(questionQuiet / 3)
		c.Send(" or something else\r\n")
		c.Cut, c.Gap = 1, 20*time.Millisecond
		c.Send("Clear all counters [confirm]")
		c.Cut = 0
		key, _ := c.Key()
		second, _ := c.KeyWithin(questionQuiet + enterPatience) // while it shows no reaction
		answers = []byte{early, key, second}
		c.Send("\r\n")
		return true
	}
	server := fakeconsole.Listen(t, shell.Serve)
	p := newPool(t, Options{})
	report, err := runConfirmed(t, p, server, "clear counters")
	wantText(t, report.Outputs[0], "Type [confirm] or something else\nClear all counters [confirm]")
	p.Close()
	if err != nil || string(answers) != "\x00\r\x00" || report.Note != "" {
		t.Errorf("error %v, answers %q, report %+v", err, answers, report)
	}
}

// rebooting is a console whose `reload` ends as it is told, and whose next connection sees a boot that begins in silence.
func rebooting(t *testing.T, end func(*fakeconsole.Conn)) (server *fakeconsole.Server, meanwhile *[]byte) {
	shell, up := ios("R1"), ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if command == "reload" {
			c.Send(proceed)
			if key, ok := c.Key(); !ok || key != '\r' {
				t.Errorf("answered with %q", key)
			}
			end(c)
		}
		return command == "reload"
	}
	meanwhile = new([]byte)
	before, started := 0, make(chan struct{})
	server = fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		<-started
		if server.Accepted() == 1 {
			shell.Serve(c)
			return
		}
		before = len(server.Received())
		c.Pause(7 * patience) // longer than it takes to come to the keys that interrupt
		for range 2 * bootLines {
			c.Send("Initializing flashfs...\r\n")
		}
		c.Send("\r\nPress RETURN to get started!\r\n\r\n")
		*meanwhile = server.Received()[before:]
		up.Run(c)
	})
	close(started)
	return server, meanwhile
}

// A confirmed command after which the device restarts succeeds, and the next one waits for the boot without disturbing it.
func TestRunConfirmedReload(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fakeconsole.Conn){
		"closes":  (*fakeconsole.Conn).Close,
		"resets":  (*fakeconsole.Conn).Reset,
		"silence": (*fakeconsole.Conn).Hang,
		"boot text": func(c *fakeconsole.Conn) {
			for c.Send("\r\nSelf decompressing the image : ####\r\n") && c.Pause(100*time.Millisecond) {
			}
		},
		"other prompts": func(c *fakeconsole.Conn) { c.Send("\r\n\r\nSystem Bootstrap\r\nRouter>"); c.Hang() },
		"first setup":   func(c *fakeconsole.Conn) { c.Send("\r\n\r\n" + dialogQuestion); c.Hang() },
		"boot loader":   func(c *fakeconsole.Conn) { c.Send("\r\n\r\nrommon 1 > "); c.Hang() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, meanwhile := rebooting(t, end)
			// The silence is longer than what is otherwise borne.
			p := newPool(t, Options{RestartTimeout: 700 * time.Millisecond, PromptTimeout: 2 * time.Second})
			report, err := runConfirmed(t, p, server, "reload")
			if want := "R1 took the confirmation and has not come back to its prompt yet; it restarts."; err != nil || report.Note != want ||
				report.Outputs[0].Err != nil || !strings.HasPrefix(report.Outputs[0].Text, proceed) {
				t.Errorf("error %v, report %+v", err, report)
			}
			received := string(server.Received())
			if after := received[strings.LastIndex(received, "reload")+len("reload"):]; after != "\r\r" {
				t.Errorf("pressed %q", after)
			}
			wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
			p.Close()
			if server.Accepted() != 2 || bytes.ContainsAny(*meanwhile, "\x03\x1e") || len(*meanwhile) == 0 {
				t.Errorf("%d connections, pressed %q during the boot", server.Accepted(), *meanwhile)
			}
		})
	}
}

// Who aborts before the confirmation is given, gives none: the question is cancelled. Afterwards no key is pressed.
func TestRunConfirmedAborted(t *testing.T) {
	t.Parallel()
	for name, confirmed := range map[string]bool{"at the question": false, "at the second question": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var answers string
			shell := ios("R1")
			shell.On = func(c *fakeconsole.Conn, command string) bool {
				if command != "reload" {
					return false
				}
				if strings.Contains(name, "second") {
					c.Send("Really? [confirm]")
					c.Key()
					c.Send("\r\n")
				}
				c.Send(proceed)
				if confirmed {
					c.Key()
				} else {
					c.Pause(questionQuiet / 3) // it has arrived
				}
				cancel()
				key, _ := c.Key()
				answers = string(key)
				c.Send("\r\n")
				return true
			}
			server := fakeconsole.Listen(t, shell.Serve)
			p := newPool(t, Options{})
			report, err := p.RunConfirmed(ctx, at(server, "cisco_iosxe"), "reload", nil)
			wantCode(t, err, schema.CodeAborted)
			if !errors.Is(err, context.Canceled) || len(report.Outputs) != 1 || report.Note != "" {
				t.Errorf("error %v, report %+v", err, report)
			}
			if confirmed != strings.Contains(err.Error(), "may be restarting") {
				t.Errorf("error %v", err)
			}
			wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
			p.Close()
			want, connections := "\x03", 1
			if confirmed {
				want, connections = "\x00", 2
			}
			if answers != want || server.Accepted() != connections {
				t.Errorf("answered with %q, %d connections", answers, server.Accepted())
			}
		})
	}
}

// Run gives no confirmation.
func TestRunConfirmsNothing(t *testing.T) {
	t.Parallel()
	shell, answers := asker("reload", proceed)
	server := fakeconsole.Listen(t, shell.Serve)
	p := newPool(t, Options{})
	wantCode(t, mustRun(t, p, server, "cisco_iosxe", "reload").Outputs[0].Err, schema.CodeDeviceQuestion)
	p.Close()
	if string(*answers) != "\x03" {
		t.Errorf("answered with %q", *answers)
	}
}
