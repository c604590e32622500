package dev_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/telemetry"
	"gns3copilot/deploy/telemetry/collector"
	"gns3copilot/schema"

	"google.golang.org/protobuf/encoding/protojson"
)

// What no trace, no metric and no log line may hold: words of people, of the model and of devices.
const (
	secretQuestion = "the-question-of-the-user"
	secretAnswer   = "the-answer-of-the-model"
	secretRefusal  = "the-refusal-of-the-provider"
	secretState    = "the-state-of-a-client"
	showVersion    = "show version"
	deviceOutput   = "Cisco IOS"
)

// TestTurnIsTold runs turns on a stack with tracing and metrics, and looks at all that it tells.
func TestTurnIsTold(t *testing.T) {
	spans, err := collector.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := spans.Close(); err != nil {
			t.Error(err)
		}
	}()
	x := startTold(t, telemetry.Options{OTLPEndpoint: spans.URL(), MetricsListen: "127.0.0.1:0"})
	suite.model.On(secretQuestion, call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version", "show clok"]}]}`), text(secretAnswer))
	suite.model.On("fail "+secretQuestion, func(r *scriptmodel.Reply) {
		r.Fail(http.StatusBadRequest, `{"error":{"message":"`+secretRefusal+`"}}`)
	})
	suite.model.On("invent", call("tool_of_the_models_own", "{}"), text("ok"))
	suite.model.On("change "+secretQuestion, call(configTool, configure("R2", "interface Loopback77", "description told")), text("ok"))

	session := newSession()
	parent := "4bf92f3577b34da6a3ce929d0e0e4736"
	turn := x.sayTraced(t, session, secretQuestion, "00-"+parent+"-00f067aa0ba902b7-01")
	x.say(newSession(), "fail "+secretQuestion)
	x.say(newSession(), "invent")
	x.approve(t, "change "+secretQuestion)
	status, id := x.withTokenInQuery(t, "my.own-id_1")
	if status != http.StatusOK || id != "my.own-id_1" {
		t.Errorf("token in the query: %d, request id %q", status, id)
	}
	for _, foreign := range []string{"", "with blank", strings.Repeat("x", 65), "a\"b", "ä"} {
		if _, id := x.withTokenInQuery(t, foreign); id == foreign || id == "" {
			t.Errorf("request id %q became %q", foreign, id)
		}
	}
	metrics := x.scrape(t)
	history := x.history(t, session)
	token := x.Token()
	x.stop(t)

	t.Run("one trace", func(t *testing.T) { checkTrace(t, spans.Spans(), turn, parent) })
	t.Run("metrics", func(t *testing.T) { checkMetrics(t, metrics) })
	t.Run("log", func(t *testing.T) { checkLog(t, x.log, turn) })
	t.Run("nothing secret", func(t *testing.T) {
		secrets := []string{token, secretQuestion, secretAnswer, secretRefusal, secretState, showVersion, "show clok", deviceOutput, "Loopback77", "Invalid input"}
		for _, s := range spans.Spans() {
			text, err := protojson.Marshal(s.Raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range secrets {
				if strings.Contains(string(text), secret) {
					t.Errorf("span %q holds %q: %s", s.Name, secret, text)
				}
			}
		}
		for _, secret := range append(secrets, turn, session, x.project, "tool_of_the_models_own") {
			if strings.Contains(metrics, secret) {
				t.Errorf("the metrics hold %q", secret)
			}
		}
		x.log.mu.Lock()
		defer x.log.mu.Unlock()
		if strings.Contains(x.log.b.String(), token) {
			t.Error("the log holds the token")
		}
		if strings.Contains(history, secretState) || !strings.Contains(history, "traceparent") {
			t.Errorf("trace headers in the history: %s", history)
		}
	})
}

// checkTrace fails unless the turn is one connected trace, below the client's, from the request to the commands on the console.
func checkTrace(t *testing.T, spans []collector.Span, turn, trace string) {
	t.Helper()
	byID := map[string]collector.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	// path names the spans from the outermost to this one.
	var path func(s collector.Span) []string
	path = func(s collector.Span) []string {
		parent, ok := byID[s.Parent]
		if !ok {
			return []string{s.Name}
		}
		return append(path(parent), s.Name)
	}
	const request = "POST /v3/copilot/projects/:project_id/chat/stream"
	found := map[string]int{}
	for _, s := range spans {
		if s.Trace != trace {
			continue
		}
		found[s.Name]++
		way := path(s)
		if way[0] != request {
			t.Errorf("%q hangs loose: %q", s.Name, way)
		}
		switch s.Name {
		case "console command":
			want := []string{request, "StartWorkflow:ChatTurn", "RunWorkflow:ChatTurn", "StartActivity:RunTool", "RunActivity:RunTool", "console visit", "console command"}
			if !slices.Equal(way, want) {
				t.Errorf("a command's way is %q", way)
			}
			if s.Attributes["copilot.device"] != "R1" || s.Attributes["copilot.platform"] == "" {
				t.Errorf("a command has the attributes %v", s.Attributes)
			}
			if code := s.Attributes["copilot.code"]; s.Failed != (code == string(schema.CodeCommandRejected)) {
				t.Errorf("a command failed: %v, code %q", s.Failed, code)
			}
		case request:
			if s.Attributes["copilot.turn_id"] != turn || !slices.ContainsFunc(s.Events, func(e collector.Event) bool { return e.Name == "first content" }) {
				t.Errorf("the request has %v %v", s.Attributes, s.Events)
			}
		case "RunActivity:RunTool":
			if s.Attributes["copilot.turn_id"] != turn || !strings.HasPrefix(s.Attributes["copilot.tool_call_id"], "call_") {
				t.Errorf("the tool has %v", s.Attributes)
			}
		case "model request":
			if len(s.Events) == 0 || s.Events[0].Name != "headers" {
				t.Errorf("the model's request has %v", s.Events)
			}
		}
	}
	if found["console command"] != 2 {
		t.Errorf("%d commands on consoles", found["console command"])
	}
	for _, name := range []string{"read conversation", "read topology", "model request", "database: store assistant message", "database: begin turn",
		"wait for the event stream", "RunActivity:Gate", "console visit", "console dial", "console prompt", "GNS3 GET", "RunActivity:FinishTurn"} {
		if found[name] == 0 {
			t.Errorf("there is no span %q", name)
		}
	}
	pushed := 0
	for _, s := range spans {
		if s.Name == "push lines" {
			pushed++
		}
	}
	if pushed != 1 {
		t.Errorf("%d groups of lines were pushed", pushed)
	}
}

// checkMetrics fails unless the figures are those of the turns that were run.
func checkMetrics(t *testing.T, text string) {
	t.Helper()
	for _, want := range []struct {
		series string // a regular expression
		least  float64
		most   float64
	}{
		{`copilot_turns_started_total`, 4, 4},
		{`copilot_turns_ended_total{stop_reason="complete"}`, 3, 3},
		{`copilot_turns_ended_total{stop_reason="error"}`, 1, 1},
		{`copilot_tool_calls_total{outcome="partial",tool="execute_multiple_device_commands"}`, 0, 0},
		{`copilot_tool_calls_total{outcome="failed",tool="execute_multiple_device_commands"}`, 1, 1},
		{`copilot_tool_calls_total{outcome="success",tool="execute_multiple_device_config_commands"}`, 1, 1},
		{`copilot_tool_calls_total{outcome="refused",tool="other"}`, 1, 1},
		{`copilot_model_call_duration_seconds_count{code="model_refused"}`, 1, 1},
		{`copilot_model_call_duration_seconds_count{code="ok"}`, 6, 10},
		{`copilot_model_first_content_seconds_count`, 3, 7},
		{`copilot_console_command_duration_seconds_count{code="ok",platform="cisco_iosxe"}`, 1, 1},
		{`copilot_console_command_duration_seconds_count{code="command_rejected",platform="cisco_iosxe"}`, 1, 1},
		{`copilot_pushed_lines_total`, 2, 2},
		{`copilot_approval_wait_seconds_count{outcome="confirmed"}`, 1, 1},
		{`copilot_http_request_duration_seconds_count{method="POST",route="/v3/copilot/projects/:project_id/chat/stream",status="200"}`, 4, 4},
		{`copilot_http_request_duration_seconds_count{method="GET",route="/v3/copilot/projects/:project_id/chat/sessions",status="200"}`, 6, 6},
		{`copilot_sse_streams`, 0, 0},
		{`copilot_nats_connected`, 1, 1},
		{`copilot_database_connections{pool="write",state="idle"}`, 0, 1},
		{`go_goroutines`, 1, 1e6},
	} {
		value, ok := sample(text, want.series)
		if !ok && want.most > 0 || value < want.least || value > want.most {
			t.Errorf("%s is %v, there %v, want %v to %v", want.series, value, ok, want.least, want.most)
		}
	}
	if !strings.Contains(text, "temporal_workflow_completed_total{") || !strings.Contains(text, "temporal_request_latency_seconds_bucket{") {
		t.Error("Temporal's own metrics are missing")
	}
}

// checkLog fails unless each request of ours has its line, and lines carry the ids.
func checkLog(t *testing.T, log *loggedText, turn string) {
	t.Helper()
	streams, own := 0, 0
	for _, line := range log.lines(t, "request") {
		for _, key := range []string{"method", "route", "status", "duration", "request", "user", "trace"} {
			if line[key] == nil || line[key] == "" {
				t.Errorf("no %s in %v", key, line)
			}
		}
		if line["turn"] == turn {
			streams++
		}
		if line["request"] == "my.own-id_1" {
			own++
		}
	}
	if streams != 1 || own != 1 {
		t.Errorf("%d lines for the turn's request, %d for the one with its own id", streams, own)
	}
	models := 0
	for _, line := range log.lines(t, "model call") {
		if line["turn"] == turn && line["user"] != nil && line["trace"] != nil {
			models++
		}
	}
	if models < 2 {
		t.Errorf("%d lines of activities carry the turn", models)
	}
}

// TestUnreachableCollector: a turn ends as usual, the log says once that traces are lost, and the end is not held up.
func TestUnreachableCollector(t *testing.T) {
	release := make(chan struct{})
	for name, collect := range map[string]http.HandlerFunc{
		"nobody listens": nil,
		"no answer":      func(_ http.ResponseWriter, r *http.Request) { <-release },
		"refused":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(collect)
			defer server.Close()
			if collect == nil {
				server.Close()
			}
			x := startTold(t, telemetry.Options{OTLPEndpoint: server.URL})
			message := "into the void: " + name
			suite.model.On(message, text("fine"))
			for range 3 {
				if events := x.say(newSession(), message); last(events).StopReason != schema.StopComplete {
					t.Errorf("%s", types(events))
				}
			}
			x.stop(t)
			if lines := x.log.lines(t, "traces don't reach the collector"); len(lines) != 1 {
				t.Errorf("the log says so %d times", len(lines))
			}
			if name == "no answer" {
				close(release)
			}
		})
	}
}
