package main

import (
	"regexp"
	"testing"

	"gns3copilot/deploy/dev/temporaldev/temporaltest"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/telemetry/collector"
	"gns3copilot/schema"
)

var metricsLine = regexp.MustCompile(`(?m)^metrics http://127\.0\.0\.1:\d+/metrics$`)

// TestTracedWorkerKilled: the trace headers in a history don't disturb the worker that takes it over, and what the processes tell at their
// end is one trace.
func TestTracedWorkerKilled(t *testing.T) {
	spans, err := collector.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer spans.Close()
	model := scriptmodel.Start()
	defer model.Close()
	model.On("ping", func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 4"]}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("it answers") })

	d := startDistributed(t, temporaltest.Start(t, schema.SearchAttributes()...).Address())
	d.backends = append(d.backends, "--otlp-endpoint", spans.URL(), "--metrics-listen", "127.0.0.1:0")
	server, url := start(t, true, append([]string{"api", "--listen", "127.0.0.1:0"}, d.backends...)...)
	first := d.worker(t, model)
	api, project := login(t, url)
	events := follow(t, api, project, "traced", "ping")
	upTo(t, events, func(ev receivedEvent) bool {
		return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
	})
	second := d.worker(t, model)
	first.Kill()
	var done receivedEvent
	for done = range events {
	}
	if done.Type != schema.EventDone || done.StopReason != schema.StopComplete {
		t.Fatalf("%+v", done.Event)
	}
	for _, p := range []*process{server, second} {
		if status := p.interrupt(); status != 0 {
			t.Errorf("exit status %d after Ctrl-C", status)
		}
		if !metricsLine.MatchString(p.Out.String()) {
			t.Errorf("no line says where the metrics are:\n%s", p.Out.String())
		}
	}
	traces := map[string]int{}
	for _, s := range spans.Spans() {
		switch s.Name {
		case "POST /v3/copilot/projects/:project_id/chat/stream", "RunActivity:FinishTurn", "console command":
			traces[s.Trace]++
		}
	}
	if len(traces) != 1 {
		t.Errorf("request, command and end are in %d traces", len(traces))
	}
	for _, n := range traces {
		if n != 3 {
			t.Errorf("%d spans of request, command and end", n)
		}
	}
}
