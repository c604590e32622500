package console

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
)

// A kept session is used again; one that died or whose time is up is replaced.
func TestKeptSessions(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	conns := make(chan *fakeconsole.Conn, 10)
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { conns <- c; shell.Serve(c) })
	p := newPool(t, Options{})
	for range 3 {
		wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
	}
	if n := server.Accepted(); n != 1 {
		t.Errorf("%d connections for three Runs", n)
	}
	(<-conns).Reset()
	wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
	if n := server.Accepted(); n != 2 {
		t.Errorf("%d connections after the first died", n)
	}

	short := newPool(t, Options{IdleTimeout: 20 * time.Millisecond})
	mustRun(t, short, server, "cisco_iosxe", "show clock")
	<-conns
	if c := <-conns; c.WasReset() { // waits until the engine has closed it
		t.Error("closed by a reset")
	}
}

// The pool closes in order: no connection is reset, even with unread text, and none is left.
func TestClose(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	conns := make(chan *fakeconsole.Conn, 1)
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { conns <- c; shell.Serve(c) })
	p := newPool(t, Options{})
	mustRun(t, p, server, "cisco_iosxe", "show clock")
	c := <-conns
	c.Send(strings.Repeat("late text\r\n", 1000))
	p.Close()
	if c.WasReset() {
		t.Error("closed by a reset")
	}
	if _, err := p.Run(t.Context(), Target{Address: server.Address}, []string{"show clock"}, nil); err == nil {
		t.Error("a closed pool runs commands")
	}
}

// Close interrupts what runs.
func TestCloseInterrupts(t *testing.T) {
	t.Parallel()
	server := fakeconsole.Listen(t, slowShell("\x1e").Serve)
	p := newPool(t, Options{})
	over := make(chan error, 1)
	_, err := p.Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"}, []string{"ping 1.1.1.1"},
		func(state string, _, _ int, _ string) {
			if state == "running" {
				go func() { p.Close(); over <- nil }()
			}
		})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	<-over
}

// 20 MB of output stay within the bound, first and last part kept and the gap stated.
func TestLargeOutput(t *testing.T) {
	const line = "interface Loopback0 is up, line protocol is up, and so on and on and on and so forth 123\r\n"
	const count = 20 << 20 / len(line)
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if command != "show tech" {
			return false
		}
		block := strings.Repeat(line, 100)
		c.Send("the first line\r\n")
		for range count / 100 {
			if !c.Send(block) {
				return true
			}
		}
		c.Send("the last line\r\n")
		return true
	}
	server := fakeconsole.Listen(t, shell.Serve)
	p := newPool(t, Options{})
	var peak atomic.Uint64
	ctx, cancel := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		for ticker := time.NewTicker(5 * time.Millisecond); ; {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-ticker.C:
			case <-ctx.Done():
				ticker.Stop()
				return
			}
		}
	})
	report := mustRun(t, p, server, "cisco_iosxe", "show tech", "show clock")
	cancel()
	watch.Wait()
	text := report.Outputs[0].Text
	if !strings.HasPrefix(text, "the first line\ninterface") || !strings.HasSuffix(text, "\nthe last line") {
		t.Errorf("text begins %q and ends %q", text[:40], text[len(text)-40:])
	}
	sent := len("the first line\n") + len("the last line\n") + count/100*100*(len(line)-1)
	if want := fmt.Sprintf("… %d bytes left out …", sent-8<<20); !strings.Contains(text, want) {
		t.Errorf("the gap is not stated as %q", want)
	}
	wantText(t, report.Outputs[1], clock)
	if mb := peak.Load() >> 20; mb > 60 {
		t.Errorf("heap of %d MB", mb)
	}
}

// A thousand connects, drops and cancels leave no connection (and, by TestMain, no goroutine).
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	shells := func(c *fakeconsole.Conn) {
		shell := slowShell("\x1e")
		ping := shell.On
		shell.On = func(c *fakeconsole.Conn, command string) bool {
			if command == "drop" {
				c.Close()
				return true
			}
			return ping(c, command)
		}
		shell.Serve(c)
	}
	server := fakeconsole.Listen(t, shells)
	p := newPool(t, Options{IdleTimeout: 50 * time.Millisecond})
	target := Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"}
	work := make(chan int)
	var workers sync.WaitGroup
	for w := range 20 {
		own := fakeconsole.Listen(t, shells)
		workers.Go(func() {
			for i := range work {
				target := target
				if w%2 == 0 { // half of them on a console of their own
					target.Address = own.Address
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%40)*5*time.Millisecond)
				p.Run(ctx, target, []string{[]string{"show clock", "ping 1.1.1.1", "drop"}[i%3]}, nil)
				cancel()
			}
		})
	}
	for i := range 1000 {
		work <- i
	}
	close(work)
	workers.Wait()
	p.Close()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	inLimit(t, 10*time.Second, func() {
		for server.Open() > 0 {
			<-tick.C
		}
	})
}
