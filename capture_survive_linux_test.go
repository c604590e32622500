package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gns3copilot/deploy/dev/temporaldev/temporaltest"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// hangsOnce is a tshark that hangs when it runs for the first time. A reader of the pipe sees when that begins and ends.
const hangsOnce = `#!/bin/sh
if mkdir FOLDER/begun 2>/dev/null; then
	exec 5> FOLDER/alive
	echo >&5
	exec sleep 600
fi
echo one packet
`

// TestWorkerKilledInAnAnalysis kills the worker whose tshark hangs: neither that process nor the capture's file outlives it, and another worker
// finishes the turn.
func TestWorkerKilledInAnAnalysis(t *testing.T) {
	temporal := temporaltest.Start(t, schema.SearchAttributes()...)
	model := scriptmodel.Start()
	defer model.Close()
	call := func(tool, args string) scriptmodel.Step {
		return func(r *scriptmodel.Reply) { r.Call(tool, args) }
	}
	model.On("read it", call("start_gns3_capture", `{"link_id": "PC1 - R1"}`),
		call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.1.1 -c 1"]}]}`),
		call("packet_analysis", `{"link_id": "PC1 - R1"}`), func(r *scriptmodel.Reply) { r.Say("read") })
	d := startDistributed(t, temporal.Address())

	folder, temporary := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "tshark"), []byte(strings.ReplaceAll(hangsOnce, "FOLDER", folder)), 0o700); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(folder, "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temporary)
	first := d.worker(t, model)
	api, project := login(t, d.api)
	events := follow(t, api, project, "analysis-killed", "read it")
	waitFor(t, func() bool { n, _ := alive.Read(make([]byte, 1)); return n == 1 }, first.Done)
	d.worker(t, model)
	first.Kill()
	if err := alive.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(alive); err != nil { // until nobody can write any more
		t.Errorf("tshark goes on: %v", err)
	}
	if left, err := filepath.Glob(temporary + "/gns3-copilot-capture-*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	seen := upTo(t, events, isType(schema.EventDone))
	checkOnce(t, seen)
	var r schema.ToolResponse
	for _, ev := range seen {
		if ev.Type == schema.EventToolEnd && ev.ToolName == "packet_analysis" {
			if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !r.Success || r.Total != 1 || r.Data[0].Result != "one packet\n" {
		t.Errorf("%+v", r)
	}
}
