package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// slowShell is a router whose `ping` runs until one of the keys.
func slowShell(keys string) *fakeconsole.Shell {
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if !strings.HasPrefix(command, "ping") {
			return false
		}
		c.Send("Type escape sequence to abort.\r\n")
		if _, ok := c.Until(keys, "!", 10*time.Millisecond); ok {
			c.Send("\r\nSuccess rate is 100 percent\r\n")
		}
		return true
	}
	return shell
}

// An abort interrupts the command with the platform's key, gives its partial output, and leaves the console usable.
func TestAbort(t *testing.T) {
	t.Parallel()
	for platform, key := range map[string]string{"cisco_iosxe": "\x1e", "frr": "\x03"} {
		t.Run(platform, func(t *testing.T) {
			shell := slowShell(key)
			if platform == "frr" {
				shell.Prompt = func(host, _ string) string { return host + "# " }
			}
			server := fakeconsole.Listen(t, shell.Serve)
			p := newPool(t, Options{})
			ctx, cancel := context.WithCancel(t.Context())
			var report Report
			var err error
			inLimit(t, 20*time.Second, func() {
				report, err = p.Run(ctx, Target{Device: "R1", Address: server.Address, Platform: platform},
					[]string{"show clock", "ping 10.0.0.9", "show clock"}, func(state string, done, total int, detail string) {
						if state == "running" && done == 1 {
							time.AfterFunc(100*time.Millisecond, cancel)
						}
					})
			})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if len(report.Outputs) != 2 {
				t.Fatalf("outputs %+v", report.Outputs)
			}
			wantCode(t, report.Outputs[1].Err, schema.CodeAborted)
			if text := report.Outputs[1].Text; !strings.HasPrefix(text, "Type escape sequence to abort.\n!") || !strings.HasSuffix(text, "percent") {
				t.Errorf("partial text %q", text)
			}
			wantText(t, mustRun(t, p, server, platform, "show clock").Outputs[0], clock)
			if n := server.Accepted(); n != 1 {
				t.Errorf("%d connections: the console was not left at its prompt", n)
			}
		})
	}
}

// A command that takes too long is interrupted; its partial text is returned and the next command runs.
func TestCommandTimeout(t *testing.T) {
	t.Parallel()
	shell := slowShell("\x1e")
	server := fakeconsole.Listen(t, shell.Serve)
	p := newPool(t, Options{SlowTimeout: 300 * time.Millisecond})
	report := mustRun(t, p, server, "cisco_iosxe", "ping 10.0.0.9", "show clock")
	wantCode(t, report.Outputs[0].Err, schema.CodeCommandTimeout)
	if !strings.Contains(report.Outputs[0].Text, "!!!") {
		t.Errorf("text %q", report.Outputs[0].Text)
	}
	wantText(t, report.Outputs[1], clock)
}

// A device that hangs for good ends the Run, and the connection isn't used again.
func TestHangingDevice(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if command == "show tech" {
			c.Send("part")
			c.Hang()
		}
		return command == "show tech"
	}
	server := fakeconsole.Listen(t, shell.Serve)
	p := newPool(t, Options{CommandTimeout: 200 * time.Millisecond})
	report, err := p.Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"}, []string{"show tech", "show clock"}, nil)
	wantCode(t, err, schema.CodeCommandTimeout)
	if len(report.Outputs) != 1 || report.Outputs[0].Text != "part" {
		t.Errorf("outputs %+v", report.Outputs)
	}
	wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
	if n := server.Accepted(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// A peer that hangs up in the middle is told from a timeout, with what came before.
func TestClosedInMidCommand(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fakeconsole.Conn){"end": (*fakeconsole.Conn).Close, "reset": (*fakeconsole.Conn).Reset} {
		t.Run(name, func(t *testing.T) {
			shell := ios("R1")
			shell.On = func(c *fakeconsole.Conn, command string) bool {
				if command == "show tech" {
					c.Send("line\r\npart")
					c.Pause(50 * time.Millisecond)
					end(c)
				}
				return command == "show tech"
			}
			server := fakeconsole.Listen(t, shell.Serve)
			report, err := newPool(t, Options{}).Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"},
				[]string{"show clock", "show tech", "show clock"}, nil)
			wantCode(t, err, schema.CodeConsoleClosed)
			if len(report.Outputs) != 2 || report.Outputs[1].Text != "line\npart" {
				t.Fatalf("outputs %+v", report.Outputs)
			}
			wantCode(t, report.Outputs[1].Err, schema.CodeConsoleClosed)
			for _, want := range []string{"R1", server.Address, "part"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %v", want, err)
				}
			}
		})
	}
}

// D32: two Runs on one console take turns, the second is told, and their commands don't mix.
func TestD32OneRunAtATime(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if strings.HasPrefix(command, "show slow") {
			c.Send(command + "\r\n")
			c.Pause(20 * time.Millisecond)
		}
		return strings.HasPrefix(command, "show slow")
	}
	server := fakeconsole.Listen(t, shell.Serve)
	p := newPool(t, Options{})
	var waited atomic.Int32
	var runs sync.WaitGroup
	for i := range 4 {
		runs.Go(func() {
			commands := []string{fmt.Sprint("show slow a", i), fmt.Sprint("show slow b", i)}
			report, err := p.Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"}, commands,
				func(state string, done, total int, detail string) {
					if state == "waiting" {
						waited.Add(1)
					}
				})
			if err != nil {
				t.Errorf("Run: %v", err)
				return
			}
			for j, o := range report.Outputs {
				wantText(t, o, commands[j])
			}
		})
	}
	runs.Wait()
	var entered []string
	for _, line := range shell.Lines() {
		if rest, ok := strings.CutPrefix(line, "show slow "); ok {
			entered = append(entered, rest)
		}
	}
	for i := 0; i+1 < len(entered); i += 2 {
		if entered[i][0] != 'a' || entered[i+1][0] != 'b' || entered[i][1:] != entered[i+1][1:] {
			t.Errorf("two Runs mixed: %q", entered)
		}
	}
	if waited.Load() != 3 {
		t.Errorf("%d Runs were told to wait, want 3", waited.Load())
	}
	if n := server.Accepted(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// D32: the wait for a console is bounded by the context.
func TestD32BusyIsBounded(t *testing.T) {
	t.Parallel()
	server := fakeconsole.Listen(t, slowShell("\x1e").Serve)
	p := newPool(t, Options{})
	holder, release := context.WithCancel(t.Context())
	defer release()
	started, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		p.Run(holder, Target{Device: "R1", Address: server.Address, Platform: "cisco_iosxe"}, []string{"ping 10.0.0.9"},
			func(state string, _, _ int, _ string) {
				if state == "running" {
					close(started)
				}
			})
	}()
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := p.Run(ctx, Target{Device: "R1", Address: server.Address}, []string{"show clock"}, nil)
	wantCode(t, err, schema.CodeConsoleBusy)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	release()
	<-over
}

// D32: what a person types meanwhile on the same console is noticed and swept away, and is no output.
func TestD32ForeignText(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	var mu sync.Mutex
	var device *fakeconsole.Conn
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		mu.Lock()
		device = c
		mu.Unlock()
		shell.Serve(c)
	})
	p := newPool(t, Options{})
	for _, foreign := range []string{"show ver", "\r\nR1#conf t\r\nEnter configuration commands\r\nR1(config)#"} {
		report := mustRun(t, p, server, "cisco_iosxe", "show clock", "show bogus")
		wantText(t, report.Outputs[0], clock)
		wantCode(t, report.Outputs[1].Err, schema.CodeCommandRejected)
		mu.Lock()
		device.Send(foreign)
		if strings.HasSuffix(foreign, "(config)#") {
			shell.Mode = "config"
		}
		mu.Unlock()
	}
	wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
}

// D38: five devices at once, each with its own result.
func TestD38FiveDevices(t *testing.T) {
	t.Parallel()
	good := fakeconsole.Listen(t, ios("R1").Serve)
	wrong := fakeconsole.Listen(t, vpcs("PC1").Serve)
	hang := fakeconsole.Listen(t, (*fakeconsole.Conn).Hang)
	dropping := ios("R5")
	dropping.On = func(c *fakeconsole.Conn, command string) bool {
		if command == "show clock" {
			c.Send("*00:01")
			c.Close()
		}
		return command == "show clock"
	}
	drop := fakeconsole.Listen(t, dropping.Serve)
	targets := []Target{
		{Device: "R1", Address: good.Address, Platform: "cisco_iosxe"}, {Device: "R2", Address: fakeconsole.FreeAddress(t), Platform: "cisco_iosxe"}, {Device: "PC1", Address: wrong.Address, Platform: "cisco_iosxe"},
		{Device: "R4", Address: hang.Address, Platform: "cisco_iosxe"}, {Device: "R5", Address: drop.Address, Platform: "cisco_iosxe"},
	}
	want := []schema.Code{"", schema.CodeConsoleRefused, "", schema.CodeConsoleSilent, schema.CodeConsoleClosed}
	p := newPool(t, Options{ConnectTimeout: 500 * time.Millisecond, PromptTimeout: 500 * time.Millisecond})
	reports, errs := make([]Report, len(targets)), make([]error, len(targets))
	var runs sync.WaitGroup
	for i, target := range targets {
		runs.Go(func() { reports[i], errs[i] = p.Run(t.Context(), target, []string{"show clock"}, nil) })
	}
	runs.Wait()
	for i, code := range want {
		wantCode(t, errs[i], code)
	}
	wantText(t, reports[0].Outputs[0], clock)
	wantCode(t, reports[2].Outputs[0].Err, schema.CodeCommandRejected)
	if reports[2].Platform != "vpcs" || !strings.Contains(reports[2].Note, "vpcs") {
		t.Errorf("report %+v", reports[2])
	}
	if text := reports[4].Outputs[0].Text; text != "*00:01" {
		t.Errorf("partial text %q", text)
	}
}

// D39: an abort ends the wait for a device that says nothing, at connect too.
func TestD39AbortWhileSilent(t *testing.T) {
	t.Parallel()
	server := fakeconsole.Listen(t, (*fakeconsole.Conn).Hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	inLimit(t, 5*time.Second, func() {
		_, err := newPool(t, Options{}).Run(ctx, Target{Device: "R1", Address: server.Address}, []string{"show clock"}, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
