package dev_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/telemetry"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
)

// told is a stack of its own that tells what it does.
type told struct {
	stack *dev.Stack
	log   *loggedText
	user
}

// lines gives the lines of a log in JSON that have this message.
func (l *loggedText) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if line["msg"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

func startTold(t *testing.T, o telemetry.Options) *told {
	t.Helper()
	x := &told{log: &loggedText{}}
	options := options(t.TempDir())
	options.Telemetry = o
	options.Log = slog.New(observe.LogHandler{Handler: slog.NewJSONHandler(x.log, &slog.HandlerOptions{Level: slog.LevelDebug})})
	var err error
	if x.stack, err = dev.Start(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if x.stack != nil {
			x.stop(t)
		}
	})
	x.user = loginAt(t, x.stack.URL(), "admin")
	return x
}

func (x *told) stop(t *testing.T) {
	t.Helper()
	stack := x.stack
	x.stack = nil
	if err := stack.Stop(); err != nil {
		t.Error(err)
	}
}

// sayTraced runs a turn as a client does that is traced itself, and gives the turn's id.
func (x *told) sayTraced(t *testing.T, session, message, traceparent string) string {
	t.Helper()
	api := client.New(x.stack.URL(), headers{"traceparent": traceparent, "tracestate": "vendor=" + secretState, "baggage": "a=" + secretState})
	api.SetToken(x.Token())
	u := user{Client: api, t: t, project: x.project}
	events := u.say(session, message)
	if r := toolResult(t, events); r.Success || !strings.Contains(r.Data[0].Result, deviceOutput) {
		t.Fatalf("%+v", r)
	}
	return last(events).TurnID
}

// headers adds headers to each request.
type headers map[string]string

// RoundTrip sends a request with them.
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// approve runs a turn with a change and confirms it.
func (x *told) approve(t *testing.T, message string) {
	t.Helper()
	session := newSession()
	s := x.post(session, message)
	until(t, s, isType(schema.EventHITLRequired))
	if _, err := x.Confirm(t.Context(), x.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	if r := toolResult(t, until(t, s, isType(schema.EventDone))); !r.Success {
		t.Fatalf("%+v", r)
	}
}

func (x *told) withTokenInQuery(t *testing.T, requestID string) (status int, id string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		x.stack.URL()+"/v3/copilot/projects/"+x.project+"/chat/sessions?token="+x.Token(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Request-Id", requestID)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("X-Request-Id")
}

func (x *told) scrape(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(x.stack.MetricsURL())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %v", resp.StatusCode, err)
	}
	return string(text)
}

// history gives what Temporal keeps in the headers of the session's workflow, as text.
func (x *told) history(t *testing.T, session string) string {
	t.Helper()
	c := operatorOf(t, x.stack)
	run := awaitRun(t, c, listOf(session))
	events := c.GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var kept strings.Builder
	for events.HasNext() {
		ev, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []interface {
			GetFields() map[string]*commonpb.Payload
		}{
			ev.GetWorkflowExecutionStartedEventAttributes().GetHeader(), ev.GetActivityTaskScheduledEventAttributes().GetHeader(),
		} {
			for name, p := range h.GetFields() {
				fmt.Fprintf(&kept, "%s %s\n", name, p.GetData())
			}
		}
	}
	return kept.String()
}

// sample finds the value of a series.
func sample(text, series string) (float64, bool) {
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v, err == nil
}
