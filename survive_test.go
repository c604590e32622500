package main

import (
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/dev/temporaldev/temporaltest"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

const secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// TestKilledInMidAnswer kills the whole server with SIGKILL while it streams, starts it again on the same data, and the client that was
// connected sees the turn to its end, each event once.
func TestKilledInMidAnswer(t *testing.T) {
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
	args := func(listen string) []string {
		return []string{"dev", "--data", data, "--listen", listen, "--model-base-url", model.BaseURL(), "--model", "scripted"}
	}
	first, url := start(t, true, args("127.0.0.1:0")...)
	api, project := login(t, url)
	events := follow(t, api, project, "killed", "tell me")
	seen := upTo(t, events, isType(schema.EventContent))
	first.Kill()
	close(hold)
	second, _ := start(t, true, args(strings.TrimPrefix(url, "http://"))...)
	for ev := range events {
		seen = append(seen, ev)
	}
	checkOnce(t, seen)
	text, retries := "", 0
	for _, ev := range seen {
		if ev.Type == schema.EventRetry {
			retries, text = retries+1, ""
		}
		text += ev.Content
	}
	done := seen[len(seen)-1]
	if done.Type != schema.EventDone || done.StopReason != schema.StopComplete || retries != 1 || !strings.HasSuffix(text, "the beginning, the end") {
		t.Fatalf("%d retries, text %q, last %+v", retries, text, done.Event)
	}
	h, err := api.History(t.Context(), project, "killed")
	if err != nil || len(h.Messages) != 2 || h.Messages[1].Content != "the beginning, the end" {
		t.Fatalf("%+v %v", h, err)
	}
	if status := second.interrupt(); status != 0 {
		t.Fatalf("exit status %d after Ctrl-C", status)
	}
}

// distributed is an installation of several processes.
type distributed struct {
	backends []string
	api      string
}

// startDistributed starts its lab, its event stream and its API.
func startDistributed(t *testing.T, temporal string, apiFlags ...string) distributed {
	t.Helper()
	lab, err := simlab.Start(t.Context(), simlab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lab.Close() })
	_, nats := start(t, true, "nats", "--listen", "127.0.0.1:0", "--nats-token", "t0ken", "--data", t.TempDir())
	d := distributed{backends: []string{
		"--gns3-url", lab.URL(), "--temporal-address", temporal, "--nats-url", nats, "--nats-token", "t0ken",
		"--database-url", t.TempDir() + "/copilot.db", "--secret-key", secret,
	}}
	_, d.api = start(t, true, slices.Concat([]string{"api", "--listen", "127.0.0.1:0"}, d.backends, apiFlags)...)
	return d
}

func (d distributed) worker(t *testing.T, model *scriptmodel.Server, flags ...string) *process {
	t.Helper()
	p, _ := start(t, true, slices.Concat([]string{"worker", "--model-base-url", model.BaseURL(), "--model", "scripted"}, d.backends, flags)...)
	return p
}

// TestWorkerKilledInMidCommand kills the worker that runs a command; another one finishes the turn.
func TestWorkerKilledInMidCommand(t *testing.T) {
	temporal := temporaltest.Start(t, schema.SearchAttributes()...)
	model := scriptmodel.Start()
	defer model.Close()
	model.On("ping", func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 4"]}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("it answers") })
	d := startDistributed(t, temporal.Address())
	first := d.worker(t, model)
	api, project := login(t, d.api)
	events := follow(t, api, project, "worker-killed", "ping")
	seen := upTo(t, events, func(ev receivedEvent) bool {
		return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
	})
	d.worker(t, model)
	first.Kill()
	starts, ends := 0, 0
	for ev := range events {
		seen = append(seen, ev)
	}
	for _, ev := range seen {
		switch ev.Type {
		case schema.EventToolStart:
			starts++
		case schema.EventToolEnd:
			ends++
			var r schema.ToolResponse
			if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil || !r.Success || !strings.Contains(ev.ToolOutput, "192.168.2.10") {
				t.Errorf("%v %s", err, ev.ToolOutput)
			}
		}
	}
	checkOnce(t, seen)
	if done := seen[len(seen)-1]; starts != 1 || ends != 1 || done.StopReason != schema.StopComplete {
		t.Fatalf("%d starts, %d ends, last %+v", starts, ends, done.Event)
	}
}

// TestB10TemporalGone stops Temporal between two requests: the second is told so, and works once Temporal is back.
func TestB10TemporalGone(t *testing.T) {
	model := scriptmodel.Start()
	defer model.Close()
	model.On("hello", func(r *scriptmodel.Reply) { r.Say("hi") })
	folder := t.TempDir()
	temporal := startTemporal(t, folder, 0)
	port := temporal.port
	d := startDistributed(t, temporal.address)
	d.worker(t, model)
	api, project := login(t, d.api)
	for range follow(t, api, project, "before", "hello") {
	}
	temporal.stop()
	_, err := api.Post(t.Context(), project, schema.ChatRequest{Message: "hello", SessionID: "between"}, "")
	if schema.CodeOf(err) != schema.CodeUnavailable || !strings.Contains(err.Error(), "Temporal") {
		t.Fatalf("want unavailable, got %v", err)
	}
	startTemporal(t, folder, port)
	n := 0
	for ev := range follow(t, api, project, "after", "hello") {
		n++
		if ev.Type == schema.EventError {
			t.Errorf("%+v", ev.Event)
		}
	}
	if n == 0 {
		t.Fatal("no event after Temporal came back")
	}
}

// TestDevLeavesNothing ends the all-in-one server by Ctrl-C and looks for what could be left.
func TestDevLeavesNothing(t *testing.T) {
	data := t.TempDir()
	p, url := start(t, true, "dev", "--data", data, "--listen", "127.0.0.1:0")
	var frontend string
	for line := range strings.Lines(p.Out.String()) {
		if _, at, ok := strings.Cut(strings.TrimSpace(line), "frontend "); ok {
			frontend = at
		}
	}
	other, _ := start(t, false, "dev", "--data", data, "--listen", "127.0.0.1:0")
	if status := other.status(); status != 1 || !strings.Contains(other.Err.String(), "uses the data directory") {
		t.Errorf("a second server on the same data: status %d, %s", status, other.Err.String())
	}
	if status := p.interrupt(); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	for _, address := range []string{strings.TrimPrefix(url, "http://"), frontend} {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Errorf("%s still listens", address)
		}
	}
}

// TestChatExitStatus runs the chat as a person does.
func TestChatExitStatus(t *testing.T) {
	_, url := start(t, true, "dev", "--data", t.TempDir(), "--listen", "127.0.0.1:0")
	chat := func(args ...string) *process {
		p, _ := start(t, false, append([]string{"chat", "--server", url}, args...)...)
		return p
	}
	shown := chat("show ip interface brief on R1 and R2")
	if status := shown.status(); status != 0 {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{"── R1 ✓", "── R2 ✓", "FastEthernet0/0", "10.0.12.1", "10.0.12.2"} {
		if !strings.Contains(shown.Out.String(), want) {
			t.Errorf("%q isn't shown:\n%s", want, shown.Out.String())
		}
	}
	if p := chat("--json", "--session", "as-json", "show ip on PC1"); p.status() != 0 || !strings.Contains(p.Out.String(), `"type":"done"`) {
		t.Errorf("%s", p.Out.String())
	}
	if p := chat("--attach", "--session", "as-json"); p.status() != 0 || !strings.Contains(p.Out.String(), "── PC1 ✓") {
		t.Errorf("%s", p.Out.String())
	}
	if p := chat("--password", "wrong", "hello"); p.status() != 1 || !strings.Contains(p.Err.String(), "password") {
		t.Errorf("%s", p.Err.String())
	}
	if p := chat("--project", "nowhere", "hello"); p.status() != 1 || !strings.Contains(p.Err.String(), "Demo lab") {
		t.Errorf("%s", p.Err.String())
	}
	nobody, _ := start(t, false, "chat", "--server", "http://127.0.0.1:1", "hello")
	if nobody.status() != 1 || !strings.Contains(nobody.Err.String(), "gns3-copilot dev") {
		t.Errorf("%s", nobody.Err.String())
	}
	aborted := chat("ping 10.255.255.254 from PC1")
	waitFor(t, func() bool { return strings.Contains(aborted.Err.String(), "running") }, aborted.Done)
	if status := aborted.interrupt(); status != exitAborted {
		t.Errorf("status %d after Ctrl-C:\n%s%s", status, aborted.Out.String(), aborted.Err.String())
	}
}

// TestWorkerWithoutAModel: a worker may have no model, and then turns are refused with the chat API's words; what is kept can be read.
func TestWorkerWithoutAModel(t *testing.T) {
	temporal := temporaltest.Start(t, schema.SearchAttributes()...)
	d := startDistributed(t, temporal.Address())
	start(t, true, append([]string{"worker"}, d.backends...)...)
	api, project := login(t, d.api)
	_, err := api.Post(t.Context(), project, schema.ChatRequest{Message: "hello", SessionID: "s"}, "")
	if e := schema.AsError(err); schema.CodeOf(err) != schema.CodeModelNotConfigured || !strings.HasPrefix(e.Message, "LLM configuration not found.") {
		t.Fatalf("%v", err)
	}
	if sessions, err := api.Sessions(t.Context(), project); err != nil || len(sessions) != 0 {
		t.Errorf("%v %v", sessions, err)
	}
}
