//go:build lab

package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// labPush pushes lines that the device must take, and gives the report.
func labPush(t *testing.T, p *Pool, target Target, lines ...string) PushReport {
	t.Helper()
	request, _, acked := counted(t, lines...)
	start := time.Now()
	report, err := p.Push(t.Context(), target, request, nil)
	if err != nil || report.Acked != len(lines) || *acked != len(lines) || report.InDoubt {
		t.Fatalf("%s: %v, report %+v", target.Device, err, report)
	}
	t.Logf("%s: %d lines in %s", target.Device, len(lines), time.Since(start))
	return report
}

// added gives the lines of the second text that the first lacks.
func added(before, after string) []string {
	had := make(map[string]bool)
	for line := range strings.SplitSeq(before, "\n") {
		had[line] = true
	}
	var more []string
	for line := range strings.SplitSeq(after, "\n") {
		if !had[line] {
			more = append(more, line)
		}
	}
	return more
}

func routes(prefix string, count int) []string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("%sip route 10.78.%d.0/24 blackhole", prefix, i))
	}
	return all
}

// 200 lines, with hooks and snapshots: at more than 100 lines a second, and the snapshots show them and nothing else.
func TestLabPushFRR(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "frr")[0]
	labRun(t, p, target, "show version")
	const count = 200
	report := labPush(t, p, target, routes("", count)...)
	if strings.Join(report.Mode, ";") != "configure terminal;end" || report.Platform != "frr" {
		t.Errorf("mode %q, platform %q, note %q", report.Mode, report.Platform, report.Note)
	}
	if more := added(report.Before, report.After); strings.Join(more, "\n") != strings.Join(routes("", count), "\n") {
		t.Errorf("%d lines are new: %q", len(more), more)
	}
	start := time.Now()
	request, _, _ := counted(t, routes("no ", count)...)
	request.Snapshot = false
	if _, err := p.Push(t.Context(), target, request, nil); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f lines/s", count/time.Since(start).Seconds())
	after := labRun(t, p, target, "show running-config").Outputs[0].Text
	if after != report.Before {
		t.Errorf("not as before: %q", added(report.Before, after))
	}
}

// D24: the third line is refused; those after it are not sent, and the report has what happened.
func TestLabPushRejected(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "frr")[0]
	request, before, acked := counted(t, "interface lo", " description one", " ip adress 10.9.9.9/32", " description two", "exit")
	report, err := p.Push(t.Context(), target, request, nil)
	wantCode(t, err, schema.CodeCommandRejected)
	if err == nil || !strings.Contains(err.Error(), "line 3 of 5: `ip adress 10.9.9.9/32`: % Unknown command") {
		t.Errorf("error %v", err)
	}
	if report.Acked != 2 || *acked != 2 || *before != 3 || len(report.Outputs) != 3 || report.InDoubt {
		t.Errorf("report %+v", report)
	}
	if more := added(report.Before, report.After); len(more) == 0 || !strings.Contains(strings.Join(more, "\n"), "description one") {
		t.Errorf("new lines %q", more)
	}
	labPush(t, p, target, "interface lo", " no description")
}

// D13: the hostname changes and back, with lines after it, sub-modes, comments and a question mark that is text.
func TestLabPushHostname(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "frr")[0]
	report := labPush(t, p, target, "! a comment", "hostname a-rather-long-name-of-a-router", "", "interface lo", " description why?", "router ospf",
		" passive-interface default", "exit", "do show running-config")
	if text := report.Outputs[8].Text; !strings.Contains(text, "description why?") || !strings.Contains(text, "hostname a-rather") {
		t.Errorf("configuration %q", text)
	}
	after := labPush(t, p, target, "no router ospf", "interface lo", " no description", "exit", "hostname "+target.Device, "end")
	if more := added(report.Before, after.After); len(more) > 0 {
		t.Errorf("left behind: %q", more)
	}
}

// An abort stops before the next line and leaves configuration mode; the console can be used at once.
func TestLabPushAbort(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "frr")[0]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, before, acked := counted(t, routes("", 100)...)
	request.Acked = func(_ context.Context, i int, _ string) error {
		if *acked++; i == 39 {
			cancel()
		}
		return nil
	}
	start := time.Now()
	report, err := p.Push(ctx, target, request, nil)
	t.Logf("after %s: %v", time.Since(start), err)
	wantCode(t, err, schema.CodeAborted)
	if !errors.Is(err, context.Canceled) || report.Acked != 40 || *before != 40 || report.InDoubt || report.After != "" {
		t.Errorf("error %v, report %+v", err, report)
	}
	if text := labRun(t, p, target, "show running-config").Outputs[0].Text; strings.Count(text, "ip route 10.78.") != 40 {
		t.Errorf("configuration %q", text)
	}
	labPush(t, p, target, routes("no ", 40)...)
}

// A line that is typed when the abort comes is withdrawn, in configuration mode too.
func TestLabWithdrawn(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "frr")[0]
	before := labRun(t, p, target, "show running-config").Outputs[0].Text
	v := &visit{pool: p, target: target, progress: func(string, int, int, string) {}}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	err := v.do(t.Context(), func(ctx context.Context, s *session) error {
		for _, line := range []string{"configure terminal", "interface lo"} {
			if out, err := s.command(ctx, line, time.Second); err != nil {
				return err
			} else if out.Err != nil {
				return out.Err
			}
		}
		out, _ := s.command(over, "description never", time.Second)
		wantCode(t, out.Err, schema.CodeAborted)
		t.Logf("left at %q", s.standing())
		if s.broken {
			t.Error("the prompt didn't come back")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := labRun(t, p, target, "show running-config").Outputs[0].Text; after != before {
		t.Errorf("configuration %q", after)
	}
}

// Lines that are longer than the terminal, or not ASCII, are known by their echo.
func TestLabPushLongLines(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "frr")[0]
	long := " description " + strings.Repeat("0123456789", 70)
	report := labPush(t, p, target, "interface lo", " description café", "do show running-config", long, "do show running-config", " no description")
	if !strings.Contains(report.Outputs[2].Text, "description café") || !strings.Contains(report.Outputs[4].Text, long) {
		t.Errorf("outputs %+v", report.Outputs)
	}
}

// VPCS is configured at its own prompt, and what it refuses stops the Push.
func TestLabPushVPCS(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "vpcs")[0]
	report := labPush(t, p, target, "ip 10.9.0.1/24 10.9.0.254", "set pcname bob", "# a comment", "set pcname "+target.Device, "save")
	if len(report.Mode) > 0 || report.Before != "" || !strings.Contains(report.Outputs[4].Text, "Saving startup configuration") {
		t.Errorf("report %+v", report)
	}
	for _, wrong := range []string{"ip 10.9.0.1/24 10.8.0.1", "ip 300.1.1.1/24", "bogus", "set lport x"} {
		request, _, _ := counted(t, "ip 10.9.0.2/24 10.9.0.254", wrong, "save")
		report, err := p.Push(t.Context(), target, request, nil)
		wantCode(t, err, schema.CodeCommandRejected)
		t.Log(err)
		if report.Acked != 1 || len(report.Outputs) != 2 || report.InDoubt {
			t.Errorf("report %+v", report)
		}
	}
	if text := labRun(t, p, target, "show ip").Outputs[0].Text; !strings.Contains(text, "10.9.0.2/24") {
		t.Errorf("show ip: %q", text)
	}
}
