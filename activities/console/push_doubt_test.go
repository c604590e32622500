package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// A line whose echo doesn't come, or comes with a character missing or added, is withdrawn without Enter.
func TestPushNoEcho(t *testing.T) {
	t.Parallel()
	for name, echo := range map[string]string{"none": "", "one lost": "ip route 10.0.0.0 255.0.00 10.0.0.1", "one more": "xip route 10.0.0.0 255.0.0.0 10.0.0.1",
		"lost at the start of a long line": "description a" + strings.Repeat("0123456789", 10)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := "ip route 10.0.0.0 255.0.0.0 10.0.0.1"
			if len(echo) > 100 {
				line = strings.Replace(echo, "n a0", "n aa0", 1)
			}
			device := configurable("R1")
			device.special = func(c *fakeconsole.Conn, got string) bool {
				if got != "interface lo0" {
					return false
				}
				device.Skip, device.Mode = true, "config-if"
				c.Send(device.PromptText())
				for range line {
					c.Key()
				}
				c.Send(echo)
				device.Half(echo)
				return true
			}
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			report, err := stopped(t, p, server, schema.CodeConsoleSilent, 1, 2, "interface lo0", line, "shutdown")
			if report.InDoubt || !strings.Contains(fmt.Sprint(err), "line 2 of 3") {
				t.Errorf("error %v, report %+v", err, report)
			}
			device.wantTyped(t, "interface lo0")
			wantAtExec(t, p, server, 1)
		})
	}
}

// E8: a connection that ends while a line is under way leaves that line in doubt. It is not typed again, nor are others.
func TestE8PushConnectionLost(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fakeconsole.Conn){"end": (*fakeconsole.Conn).Close, "reset": (*fakeconsole.Conn).Reset} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.special = func(c *fakeconsole.Conn, line string) bool {
				if line == "second line" {
					end(c)
				}
				return line == "second line"
			}
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			mustRun(t, p, server, "cisco_iosxe", "show clock") // a kept session
			report, err := stopped(t, p, server, schema.CodeConsoleClosed, 1, 2, "first line", "second line", "third line")
			if !report.InDoubt || !strings.Contains(report.Note, "may still be in configuration mode") {
				t.Errorf("error %v, report %+v", err, report)
			}
			device.wantTyped(t, "first line", "second line")
			wantAtExec(t, p, server, 2)
		})
	}
}

// A kept session that has died unnoticed costs a connection, and no line is sent twice.
func TestPushKeptSessionDied(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	conns := make(chan *fakeconsole.Conn, 2)
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { conns <- c; device.Serve(c) })
	p := newPool(t, Options{})
	mustRun(t, p, server, "cisco_iosxe", "show clock")
	(<-conns).Reset()
	mustPush(t, p, server, "cisco_iosxe", "first line", "second line")
	device.wantTyped(t, "first line", "second line")
}

// Once the caller was asked about a line, a dead connection is not replaced: the caller would be asked twice.
func TestPushVPCSDied(t *testing.T) {
	t.Parallel()
	pc := vpcs("PC1")
	conns := make(chan *fakeconsole.Conn, 2)
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { conns <- c; pc.Serve(c) })
	p := newPool(t, Options{})
	mustRun(t, p, server, "vpcs", "show ip")
	request, before, acked := counted(t, "ip 10.0.0.1/24", "save")
	next := request.Before
	request.Before = func(ctx context.Context, i int) error {
		c := <-conns
		c.Reset()
		return next(ctx, i)
	}
	report, err := p.Push(t.Context(), at(server, "vpcs"), request, nil)
	wantCode(t, err, schema.CodeConsoleClosed)
	if *before != 1 || *acked != 0 || report.Acked != 0 || server.Accepted() != 1 {
		t.Errorf("%d begun, %d acknowledged, %d connections", *before, *acked, server.Accepted())
	}
}

// A line that doesn't end is interrupted and in doubt; configuration mode is left.
func TestPushTimeout(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	device.special = hangs("second line", "\x03")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{CommandTimeout: 300 * time.Millisecond})
	report, err := stopped(t, p, server, schema.CodeCommandTimeout, 1, 2, "first line", "second line", "third line")
	if !report.InDoubt || !strings.Contains(fmt.Sprint(err), "line 2 of 3") || report.Outputs[1].Text != "working" {
		t.Errorf("error %v, report %+v", err, report)
	}
	device.wantTyped(t, "first line", "second line")
	wantAtExec(t, p, server, 1)
}

// An abort in the middle of a line waits a little for its end, and in any case leaves configuration mode.
func TestPushAbort(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		work    func(*fakeconsole.Conn, string) bool
		taken   int
		inDoubt bool
	}{
		"the line ends": {func(c *fakeconsole.Conn, line string) bool {
			if line == "second line" {
				c.Pause(300 * time.Millisecond)
			}
			return line == "second line"
		}, 2, false},
		"it does not": {hangs("second line", "\x1e\x03"), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			device.special = func(c *fakeconsole.Conn, line string) bool {
				if line == "second line" {
					cancel()
				}
				return test.work(c, line)
			}
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			request, before, acked := counted(t, "first line", "second line", "third line")
			report, err := p.Push(ctx, at(server, "cisco_iosxe"), request, nil)
			wantCode(t, err, schema.CodeAborted)
			if !errors.Is(err, context.Canceled) || report.Acked != test.taken || *acked != test.taken || *before != 2 || report.InDoubt != test.inDoubt {
				t.Errorf("error %v, %d acknowledged, report %+v", err, *acked, report)
			}
			if report.After != "" || report.Mode[0] != "configure terminal" {
				t.Errorf("report %+v", report)
			}
			device.wantTyped(t, "first line", "second line")
			wantAtExec(t, p, server, 1)
		})
	}
}

// An abort that comes while the caller is asked about a line keeps it from being typed.
func TestPushAbortBefore(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request := PushRequest{Lines: []string{"first line", "second line"}, Snapshot: true}
	request.Before = func(_ context.Context, i int) error {
		if i == 1 {
			cancel()
		}
		return nil
	}
	report, err := p.Push(ctx, at(server, "cisco_iosxe"), request, nil)
	wantCode(t, err, schema.CodeAborted)
	if report.Acked != 1 || len(report.Outputs) != 1 || report.InDoubt || report.After != "" {
		t.Errorf("report %+v", report)
	}
	if strings.Contains(string(server.Received()), "second") {
		t.Error("the second line was typed")
	}
	wantAtExec(t, p, server, 1)
}

// An abort while a line is typed withdraws it: Enter is not pressed, and there is no doubt.
func TestPushAbortWhileTyping(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	device.special = func(c *fakeconsole.Conn, line string) bool {
		if line == "first line" {
			device.Skip = true
			c.Send(device.PromptText())
			for range "second line" {
				c.Key() // without echo
			}
			device.Half("second line")
			cancel()
		}
		return line == "first line"
	}
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	report, err := p.Push(ctx, at(server, "cisco_iosxe"), PushRequest{Lines: []string{"first line", "second line"}}, nil)
	wantCode(t, err, schema.CodeAborted)
	if report.Acked != 1 || len(report.Outputs) != 2 || report.InDoubt {
		t.Errorf("report %+v", report)
	}
	device.wantTyped(t, "first line")
	wantAtExec(t, p, server, 1)
}

// A console that doesn't show that the mode was left is not used again, and the report says so.
func TestPushNotLeft(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	device.special = func(_ *fakeconsole.Conn, line string) bool { return line == "end" }
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	report, err := stopped(t, p, server, schema.CodeConsoleSilent, 1, 1, "interface lo0")
	if report.InDoubt || !strings.Contains(report.Note, "may still be in configuration mode") {
		t.Errorf("error %v, report %+v", err, report)
	}
}
