package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	enumspb "go.temporal.io/api/enums/v1"
)

// TestE5FrozenReader stops a worker in the middle of a command that reads, as a paused virtual machine is. Another one reads again and ends
// the turn; the old one, woken up, has nothing more to say.
func TestE5FrozenReader(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute until Temporal gives no more work to a frozen worker")
	}
	t.Parallel()
	s := startSite(t)
	s.model.On("ping", func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 3"]}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("it answers") })
	events := follow(t, s.client, s.project, "frozen-reader", "ping")
	seen := upTo(t, events, func(ev receivedEvent) bool {
		return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
	})
	if err := s.first.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := s.newWorker()
	for ev := range events {
		seen = append(seen, ev)
	}
	if err := s.first.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	second.Kill()
	// The woken worker answers the next message, so whatever it still did of the old one comes before.
	for range follow(t, s.client, s.project, "after-frozen", "ping") {
	}
	checkOnce(t, seen)
	n := map[schema.EventType]int{}
	for _, ev := range seen {
		n[ev.Type]++
		if ev.Type == schema.EventToolEnd && (!strings.Contains(ev.ToolOutput, `"success": true`) || !strings.Contains(ev.ToolOutput, "192.168.2.10")) {
			t.Errorf("%s", ev.ToolOutput)
		}
	}
	if last := seen[len(seen)-1]; n[schema.EventToolStart] != 1 || n[schema.EventToolEnd] != 1 || last.StopReason != schema.StopComplete {
		t.Errorf("%v, last %+v", n, last.Event)
	}
	if again := s.read(s.attach("frozen-reader", ""), isType(schema.EventDone)); again[len(again)-1].ID != seen[len(seen)-1].ID {
		t.Errorf("the turn went on after its end: %+v", again)
	}
	h, err := s.client.History(t.Context(), s.project, "frozen-reader")
	if err != nil || len(h.Messages) != 4 {
		t.Errorf("%+v %v", h.Messages, err)
	}
}

// replayed fails when Temporal has refused what a worker made of the session's history.
func (p *proposal) replayed() {
	p.t.Helper()
	history := p.operator().GetWorkflowHistory(p.t.Context(), p.workflow(), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		ev, err := history.Next()
		if err != nil {
			p.t.Fatal(err)
		}
		if f := ev.GetWorkflowTaskFailedEventAttributes(); f != nil {
			p.t.Errorf("%s: %s", f.GetCause(), f.GetFailure().GetMessage())
		}
	}
}

// TestE11OtherSettings: API and worker die while a change waits, and others take over that would do many things otherwise: in another mode,
// in fewer steps, with another model, under another policy. The turn goes on as it began.
func TestE11OtherSettings(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("other-settings", "R1")
	p.first.Kill()
	p.server.Kill()
	rules, err := os.ReadFile(filepath.Join("activities", "policy", "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	lenient := filepath.Join(t.TempDir(), "policy.yaml")
	const gated = "  - execute_multiple_device_config_commands\n"
	if !strings.Contains(string(rules), gated) {
		t.Fatal("the policy doesn't name the tool any more")
	}
	if err := os.WriteFile(lenient, []byte(strings.Replace(string(rules), gated, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, true, append([]string{"worker", "--model-base-url", p.model.BaseURL(), "--model", "another", "--policy", lenient}, p.backends...)...)
	_, p.api = start(t, true, append([]string{"api", "--listen", strings.TrimPrefix(p.api, "http://"), "--steps", "4", "--mode", "teaching_assistant",
		"--approval-wait", "1s"}, p.backends...)...)
	p.waits()
	p.confirm()
	p.drain()
	checkOnce(t, p.seen)
	if last := p.seen[len(p.seen)-1]; last.StopReason != schema.StopComplete || p.received("R1", p.lines[1]) != 1 {
		t.Errorf("%+v", last.Event)
	}
	p.replayed()
}

// TestE12UpgradeWhilePending replaces API and workers one by one, as an upgrade does, while a change waits.
func TestE12UpgradeWhilePending(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("upgraded", "R1")
	p.newWorker()
	for name, old := range map[string]*process{"worker": p.first, "api": p.server} {
		if status := old.interrupt(); status != 0 {
			t.Errorf("the old %s ended with %d: %s", name, status, old.Err.String())
		}
	}
	p.startAPI(strings.TrimPrefix(p.api, "http://"))
	p.waits()
	p.confirm()
	_, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "done" || c.Acked != 3 {
		t.Errorf("%s", describe(journal))
	}
	p.replayed()
}

// TestE12UpgradeInMidPush tells the worker to end that sends a change: it sends the rest before it does.
func TestE12UpgradeInMidPush(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("upgraded-in-push", "R1")
	p.confirmUpTo("R1", "configure terminal", p.lines[0])
	p.newWorker()
	if status := p.first.interrupt(); status != 0 {
		t.Errorf("the old worker ended with %d: %s", status, p.first.Err.String())
	}
	items, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "done" || c.Acked != 3 || items["R1"].Status != schema.ItemSuccess {
		t.Errorf("%s%+v", describe(journal), items)
	}
	p.replayed()
}
