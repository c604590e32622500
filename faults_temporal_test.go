package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// TestTemporalKilledUnderDev kills the Temporal server that dev has brought along, in mid-answer: dev starts it again, and the turn goes on.
func TestTemporalKilledUnderDev(t *testing.T) {
	model := scriptmodel.Start()
	defer model.Close()
	hold := make(chan struct{})
	model.On("tell me", func(r *scriptmodel.Reply) {
		r.Say("the beginning, ")
		if r.Hold(hold) {
			r.Say("the end")
		}
	})
	data := t.TempDir()
	p, url := start(t, true, "dev", "--data", data, "--listen", "127.0.0.1:0", "--model-base-url", model.BaseURL(), "--model", "scripted")
	api, project := login(t, url)
	events := follow(t, api, project, "killed", "tell me")
	seen := upTo(t, events, isType(schema.EventContent))
	text, err := os.ReadFile(filepath.Join(data, "temporal.pid"))
	if err != nil {
		t.Fatal(err)
	}
	var temporal struct{ PID int }
	if err := json.Unmarshal(text, &temporal); err != nil || temporal.PID < 2 {
		t.Fatalf("%s: %v", text, err)
	}
	if err := syscall.Kill(temporal.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(p.Out.String(), "ended by itself and is started again") }, p.Done)
	close(hold)
	for ev := range events {
		seen = append(seen, ev)
	}
	checkOnce(t, seen)
	if done := seen[len(seen)-1]; done.Type != schema.EventDone || done.StopReason != schema.StopComplete {
		t.Errorf("%+v", done.Event)
	}
	h, err := api.History(t.Context(), project, "killed")
	if err != nil || len(h.Messages) != 2 || h.Messages[1].Content != "the beginning, the end" {
		t.Errorf("%+v %v", h, err)
	}
	if status := p.interrupt(); status != 0 {
		t.Errorf("exit status %d after Ctrl-C", status)
	}
}
