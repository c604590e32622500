package console

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// router is a fake IOS that takes configuration.
type router struct {
	*fakeconsole.Shell
	answers map[string]string // to configuration lines; others are taken without a word
	special func(c *fakeconsole.Conn, line string) bool

	mu   sync.Mutex
	text []string // the lines of a banner
}

func configurable(host string) *router {
	r := &router{Shell: ios(host), answers: make(map[string]string)}
	r.On = r.configure
	r.Replies["show running-config"] = lines("Building configuration...", "", "hostname R1", "end")
	return r
}

// configure takes a line in configuration mode.
func (r *router) configure(c *fakeconsole.Conn, line string) bool {
	if r.special != nil && r.special(c, line) {
		return true
	}
	if r.Mode == "" || line == "end" {
		return false
	}
	word, rest, _ := strings.Cut(line, " ")
	answer, answered := r.answers[line]
	switch {
	case answered:
		c.Send(answer)
	case strings.HasPrefix(line, "ip addres "):
		c.Send(r.Unknown)
	case word == "exit" && r.Mode == "config":
		r.Mode = ""
	case word == "exit":
		r.Mode = "config"
	case word == "interface":
		r.Mode = "config-if"
	case word == "router":
		r.Mode = "config-router"
	case word == "hostname":
		r.Host = rest
	case word == "do":
		c.Send(r.Replies[rest])
	case word == "banner":
		delimiter := strings.TrimPrefix(rest, "motd ")[:1]
		c.Send("Enter TEXT message.  End with the character '" + delimiter + "'.\r\n")
		r.banner(c, delimiter)
	}
	return true
}

// banner reads text up to the delimiter, without a prompt. Ctrl-C gives it up.
func (r *router) banner(c *fakeconsole.Conn, delimiter string) {
	for line := ""; ; {
		key, ok := c.Key()
		switch {
		case !ok:
			return
		case key == 0x03:
			r.Mode = ""
			c.Send("\r\n")
			return
		case key == '\r':
			c.Send("\r\n")
			r.mu.Lock()
			r.text = append(r.text, line)
			r.mu.Unlock()
			if strings.Contains(line, delimiter) {
				c.Pause(20 * time.Millisecond) // the device thinks about it
				return
			}
			line = ""
		case key >= ' ':
			line += string(key)
			c.Send(string(key))
		}
	}
}

// banners are the lines of text so far.
func (r *router) banners() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.text)
}

// typed are the configuration lines that the device got, without those that every session has.
func (r *router) typed() []string {
	return slices.DeleteFunc(r.Lines(), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "terminal ") || strings.HasPrefix(line, "show ") || line == "configure terminal" || line == "end" ||
			line == "no terminal paginate"
	})
}

// wantTyped checks what the device got: each line at most once, in order, and nothing else.
func (r *router) wantTyped(t *testing.T, want ...string) {
	t.Helper()
	if got := r.typed(); !slices.Equal(got, want) {
		t.Errorf("the device got %q, want %q", got, want)
	}
}

// counted makes a request whose hooks check their order, and counts the lines that passed each.
func counted(t *testing.T, lines ...string) (r PushRequest, before, acked *int) {
	before, acked = new(int), new(int)
	r = PushRequest{Lines: lines, Snapshot: true}
	r.Before = func(ctx context.Context, i int) error {
		if i != *before || i != *acked || ctx.Err() != nil {
			t.Errorf("Before(%d) after %d begun and %d acknowledged", i, *before, *acked)
		}
		*before++
		return nil
	}
	r.Acked = func(ctx context.Context, i int, _ string) error {
		if i != *acked || ctx.Err() != nil {
			t.Errorf("Acked(%d) after %d", i, *acked)
		}
		*acked++
		return nil
	}
	return r, before, acked
}

func at(server *fakeconsole.Server, platform string) Target {
	return Target{Device: "R1", Address: server.Address, Platform: platform}
}

// mustPush pushes lines that the device takes.
func mustPush(t *testing.T, p *Pool, server *fakeconsole.Server, platform string, lines ...string) PushReport {
	t.Helper()
	request, before, acked := counted(t, lines...)
	report, err := p.Push(t.Context(), at(server, platform), request, nil)
	if err != nil {
		t.Fatalf("Push: %v", err)
	}
	if n := len(lines); report.Acked != n || len(report.Outputs) != n || *before != n || *acked != n || report.InDoubt {
		t.Fatalf("%d begun, %d acknowledged of %d lines: %+v", *before, *acked, n, report)
	}
	return report
}

// wantAtExec checks that the console was left at its base prompt, on the one connection there was.
func wantAtExec(t *testing.T, p *Pool, server *fakeconsole.Server, connections int) {
	t.Helper()
	if text := mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0].Text; !strings.HasSuffix(text, clock) {
		t.Errorf("not at the base prompt: %q", text)
	}
	if n := server.Accepted(); n != connections {
		t.Errorf("%d connections, want %d", n, connections)
	}
}

// asks makes a device ask a question after a line, until Ctrl-C, which also leaves configuration mode unless it stays. Any
// other key answers it, which prints that.
func (r *router) asks(line, question string, stays bool) func(*fakeconsole.Conn, string) bool {
	return func(c *fakeconsole.Conn, got string) bool {
		if got != line {
			return false
		}
		c.Send("About to do it\r\n" + question)
		for {
			key, ok := c.Key()
			if !ok {
				return true
			}
			if key == 0x03 {
				if !stays {
					r.Mode = ""
				}
				c.Send("\r\n")
				return true
			}
			c.Send("ANSWERED")
		}
	}
}

// stopped pushes lines that are not all taken, and checks the error's code and how far it came.
func stopped(t *testing.T, p *Pool, server *fakeconsole.Server, code schema.Code, taken, begun int, lines ...string) (PushReport, error) {
	t.Helper()
	request, before, acked := counted(t, lines...)
	report, err := p.Push(t.Context(), at(server, "cisco_iosxe"), request, nil)
	wantCode(t, err, code)
	if report.Acked != taken || *acked != taken || len(report.Outputs) != begun || *before != begun {
		t.Errorf("%d acknowledged, %d in the report, %d begun, %d outputs; want %d and %d", *acked, report.Acked, *before, len(report.Outputs), taken, begun)
	}
	if begun > taken && len(report.Outputs) == begun {
		wantCode(t, report.Outputs[begun-1].Err, code)
	}
	return report, err
}

// hangs makes a device work on a line until one of the keys.
func hangs(line, keys string) func(*fakeconsole.Conn, string) bool {
	return func(c *fakeconsole.Conn, got string) bool {
		if got != line {
			return false
		}
		c.Send("working")
		c.Until(keys, "", time.Hour)
		c.Send("\r\n")
		return true
	}
}
