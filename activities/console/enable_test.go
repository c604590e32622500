package console

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// locked is a router that asks for a password at `enable`.
type locked struct {
	*router
	mu      sync.Mutex
	answers []string
}

const userMode = "user"

// lockedRouter starts in user mode, with prompts that end in tail.
func lockedRouter(tail string, asks func(l *locked, c *fakeconsole.Conn)) *locked {
	l := &locked{router: configurable("R1")}
	l.Mode = userMode
	l.Prompt = func(host, mode string) string {
		switch mode {
		case userMode:
			return host + ">" + tail
		case "":
			return host + "#" + tail
		}
		return host + "(" + mode + ")#" + tail
	}
	l.special = func(c *fakeconsole.Conn, command string) bool {
		switch {
		case command == "enable":
			asks(l, c)
		case command == "disable":
			l.Mode = userMode
		case command == "a person enables": // a little later
			l.Skip = c.Send(l.PromptText()) && c.Pause(50*time.Millisecond)
			l.Mode = ""
			c.Send("enable\r\nPassword: \r\n" + l.PromptText())
		case l.Mode != userMode: // the configuration's
			return false
		case l.Replies[command] != "":
			c.Send(l.Replies[command])
		case !strings.HasPrefix(command, "terminal "):
			c.Send(strings.ReplaceAll(l.Unknown, "%s", command))
		}
		return true
	}
	l.OnKey = func(c *fakeconsole.Conn, key byte) bool {
		if key == 0x03 { // it leaves no mode
			l.Half("")
			c.Send("\r\n" + l.PromptText())
		}
		return key == 0x03
	}
	return l
}

// password asks once, and tells whether Enter was the end of it.
func (l *locked) password(c *fakeconsole.Conn, keys string) bool {
	c.Send("Password: ")
	text, key, ok := c.Hidden(keys)
	l.mu.Lock()
	l.answers = append(l.answers, strings.Trim(text, "\x03"))
	l.mu.Unlock()
	return ok && key == '\r'
}

// The ways in which devices take leave of a password question.
var passwordKinds = map[string]func(l *locked, c *fakeconsole.Conn){
	"Ctrl-C cancels": func(l *locked, c *fakeconsole.Conn) {
		l.password(c, "\r\x03")
		c.Send("\r\n")
	},
	"Ctrl-C is a wrong answer, which it thinks about": func(l *locked, c *fakeconsole.Conn) {
		for range 3 {
			l.password(c, "\r\x03")
			c.Send("^C\r\n")
			c.Pause(abortPatience + 200*time.Millisecond)
		}
		c.Send("% Bad secrets\r\n\r\n")
	},
	"Ctrl-C asks again": func(l *locked, c *fakeconsole.Conn) {
		for tries := 0; tries < 3; {
			if l.password(c, "\r\x03") {
				tries++
			}
			c.Send("\r\n")
		}
		c.Send("%% Bad enable passwords, too many failures!\r\n")
	},
	"Ctrl-C means nothing": func(l *locked, c *fakeconsole.Conn) {
		for range 3 {
			l.password(c, "\r")
			c.Send("\r\n")
		}
		c.Send("% Bad passwords\r\n\r\n")
	},
}

func (l *locked) count(command string) int {
	return len(slices.DeleteFunc(l.Lines(), func(line string) bool { return line != command }))
}

// A user level without a password is left upwards.
func TestEnable(t *testing.T) {
	t.Parallel()
	l := lockedRouter("", func(l *locked, _ *fakeconsole.Conn) { l.Mode = "" })
	server := fakeconsole.Listen(t, l.Serve)
	p := newPool(t, Options{})
	report := mustRun(t, p, server, "cisco_iosxe", "show clock", "disable")
	wantText(t, report.Outputs[0], clock)
	if report.Note != "" || report.Outputs[0].Prompt != "R1#" || l.count("enable") != 1 {
		t.Errorf("report %+v", report)
	}
	mustPush(t, p, server, "cisco_iosxe", "interface lo0")
}

// With a password, commands run at the user level and the report says so; lines are not pushed. The question is met once in
// a session, never answered, and not left on the console.
func TestEnablePassword(t *testing.T) {
	t.Parallel()
	const note = "R1 asks for its enable password, so the commands ran in user mode."
	for name, asks := range passwordKinds {
		for platform, tail := range map[string]string{"cisco_iosxe": "", "frr": " "} {
			t.Run(name+", "+platform, func(t *testing.T) {
				t.Parallel()
				l := lockedRouter(tail, asks)
				server := fakeconsole.Listen(t, l.Serve)
				p := newPool(t, Options{})
				for range 2 {
					report := mustRun(t, p, server, platform, "show clock", "show running-config")
					wantText(t, report.Outputs[0], clock)
					if report.Note != note || report.Outputs[0].Prompt != "R1>"+tail {
						t.Errorf("note %q, prompt %q", report.Note, report.Outputs[0].Prompt)
					}
				}
				push, err := p.Push(t.Context(), at(server, platform), PushRequest{Lines: []string{"interface lo0"}, Snapshot: true}, nil)
				wantCode(t, err, schema.CodeDeviceQuestion)
				e := schema.AsError(err)
				if e.Message != "R1 asks for its enable password, which the assistant doesn't have." ||
					e.Hint != "Type enable and the password on R1's console, then ask again: the console stays privileged." {
					t.Errorf("error %+v", e)
				}
				if len(push.Outputs)+len(push.Mode)+push.Acked > 0 || push.InDoubt || push.Note != "" || push.Platform != platform {
					t.Errorf("report %+v", push)
				}
				if l.count("enable") != 1 || l.count("terminal length 0") != 1 || l.count("interface lo0") > 0 || l.Mode != userMode {
					t.Errorf("typed %q, mode %q", l.Lines(), l.Mode)
				}
				if strings.Join(l.answersSoFar(), "") != "" {
					t.Errorf("answered %q", l.answersSoFar())
				}

				// A person enters it on the same console.
				mustRun(t, p, server, platform, "a person enables")
				inLimit(t, 10*time.Second, func() {
					for report := (Report{Note: note}); report.Note != ""; {
						report = mustRun(t, p, server, platform, "show clock")
					}
				})
				if prompt := mustRun(t, p, server, platform, "show clock").Outputs[0].Prompt; prompt != "R1#"+tail {
					t.Errorf("privileged prompt %q", prompt)
				}
				mustPush(t, p, server, platform, "interface lo0")
				if n := server.Accepted(); n != 1 || l.Mode != "" {
					t.Errorf("%d connections, mode %q", n, l.Mode)
				}
			})
		}
	}
}

func (l *locked) answersSoFar() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.answers)
}

// The first request may be a Push; a command of a Run may bring the question, too.
func TestEnablePasswordAtOnce(t *testing.T) {
	t.Parallel()
	for name, asks := range passwordKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lockedRouter("", asks)
			server := fakeconsole.Listen(t, l.Serve)
			p := newPool(t, Options{})
			_, err := p.Push(t.Context(), at(server, "cisco_iosxe"), PushRequest{Lines: []string{"interface lo0"}}, nil)
			wantCode(t, err, schema.CodeDeviceQuestion)
			report := mustRun(t, p, server, "cisco_iosxe", "enable", "show clock")
			wantCode(t, report.Outputs[0].Err, schema.CodeDeviceQuestion)
			wantText(t, report.Outputs[1], clock)
			if n := server.Accepted(); n != 1 || l.count("interface lo0") > 0 || strings.Join(l.answersSoFar(), "") != "" {
				t.Errorf("%d connections, typed %q, answered %q", n, l.Lines(), l.answersSoFar())
			}
		})
	}
}

// An abort while the device asks doesn't leave the question on the console.
func TestEnablePasswordAborted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	back := make(chan bool, 10)
	l := lockedRouter("", func(l *locked, c *fakeconsole.Conn) {
		cancel()
		passwordKinds["Ctrl-C asks again"](l, c)
		back <- true
	})
	server := fakeconsole.Listen(t, l.Serve)
	p := newPool(t, Options{})
	_, err := p.Run(ctx, at(server, "cisco_iosxe"), []string{"show clock"}, nil)
	wantCode(t, err, schema.CodeAborted)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	<-back
	wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
}

// A device that refuses `enable` is worked with in user mode; one that goes on asking for a password is reported in one line.
func TestEnableRefused(t *testing.T) {
	t.Parallel()
	l := lockedRouter("", func(_ *locked, c *fakeconsole.Conn) { c.Send("% No password set\r\n") })
	server := fakeconsole.Listen(t, l.Serve)
	p := newPool(t, Options{})
	for range 2 {
		report := mustRun(t, p, server, "cisco_iosxe", "show clock")
		wantText(t, report.Outputs[0], clock)
		if want := "R1 stays in user mode after `enable`, so the commands ran in user mode."; report.Note != want || l.count("enable") != 1 {
			t.Errorf("note %q, typed %q", report.Note, l.Lines())
		}
	}
	_, err := p.Push(t.Context(), at(server, "cisco_iosxe"), PushRequest{Lines: []string{"interface lo0"}}, nil)
	wantCode(t, err, schema.CodeCommandRejected)

	l = lockedRouter("", func(l *locked, c *fakeconsole.Conn) {
		for l.password(c, "\r\x03") || c.Send("^C") {
			if !c.Send("\r\n% Access denied\r\n") {
				return
			}
			c.Pause(time.Second)
		}
	})
	server = fakeconsole.Listen(t, l.Serve)
	_, err = p.Run(t.Context(), at(server, "cisco_iosxe"), []string{"show clock"}, nil)
	wantCode(t, err, schema.CodeDeviceQuestion)
	if err == nil || !strings.Contains(err.Error(), "asks for its enable password") {
		t.Errorf("error %v", err)
	}
}
