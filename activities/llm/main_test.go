package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gns3copilot/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-0123456789"

// script is what the server answers, byte for byte.
type script struct {
	status int // 200 when zero
	header map[string]string
	body   string
	abort  bool // break the connection behind the body
}

// delivery is the size of the pieces in which a body is written and flushed; 0 for one write.
type delivery int

func (d delivery) String() string {
	if d == 0 {
		return "whole"
	}
	return fmt.Sprintf("by %d bytes", int(d))
}

func (s script) serve(w http.ResponseWriter, d delivery) {
	for k, v := range s.header {
		w.Header().Set(k, v)
	}
	if s.header["Content-Type"] == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	body := s.body
	if d == 0 {
		d = delivery(len(body))
	}
	for len(body) > 0 {
		n := min(int(d), len(body))
		if _, err := w.Write([]byte(body[:n])); err != nil {
			return // the client has read enough
		}
		w.(http.Flusher).Flush()
		body = body[n:]
	}
	if s.abort {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// newServer starts a server that ends with the test, and gives a client of it with its own connections.
func newServer(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	transport := NewTransport(schema.ModelHosts{})
	t.Cleanup(transport.CloseIdleConnections)
	return newClient(t, Options{BaseURL: server.URL + "/v1", APIKey: testKey, Transport: transport})
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Model == "" {
		o.Model = "test-model"
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = 30 * time.Second
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// row is an answer on the wire and what has to come out of it.
type row struct {
	name string
	script
	content   string
	reasoning string
	calls     []ToolCall
	finish    string
	extra     string // JSON
	usage     *Usage // nil: any
	code      schema.Code
	says      []string // parts of the error's message and hint
	retry     time.Duration
	chunk     delivery // of the second delivery; 1 when zero
}

// run plays the row in one write and byte by byte: both have to give the same.
func (r row) run(t *testing.T) {
	t.Run(r.name, func(t *testing.T) {
		for _, d := range []delivery{0, max(r.chunk, 1)} {
			t.Run(d.String(), func(t *testing.T) { r.check(t, d) })
		}
	})
}

func (r row) check(t *testing.T, d delivery) {
	c := newServer(t, func(w http.ResponseWriter, _ *http.Request) { r.serve(w, d) })
	var heard listener
	answer, err := c.Stream(context.Background(), Request{Messages: []Message{{Role: "user", Content: "hello"}}}, heard.take)
	r.checkError(t, err)
	if answer.Content != r.content {
		t.Errorf("content = %q, want %q", brief(answer.Content), brief(r.content))
	}
	if !reflect.DeepEqual(answer.ToolCalls, r.calls) {
		t.Errorf("tool calls\n got %+v\nwant %+v", answer.ToolCalls, r.calls)
	}
	if answer.FinishReason != r.finish {
		t.Errorf("finish = %q, want %q", answer.FinishReason, r.finish)
	}
	if heard.reasoning != r.reasoning {
		t.Errorf("reasoning = %q, want %q", heard.reasoning, r.reasoning)
	}
	if r.extra != "" {
		sameJSON(t, string(answer.Extra), r.extra)
	}
	if r.usage != nil && answer.Usage != *r.usage {
		t.Errorf("usage = %+v, want %+v", answer.Usage, *r.usage)
	}
	heard.agrees(t, answer)
}

func (r row) checkError(t *testing.T, err error) {
	t.Helper()
	if got := schema.CodeOf(err); got != r.code {
		t.Fatalf("error = %v (%s), want code %q", err, got, r.code)
	}
	if err == nil {
		return
	}
	e := schema.AsError(err)
	for _, part := range r.says {
		if !strings.Contains(e.Message+" "+e.Hint, part) {
			t.Errorf("error says %q, hint %q; want %q in it", e.Message, e.Hint, part)
		}
	}
	if strings.Contains(e.Error()+e.Hint, testKey) || strings.Contains(e.Message, "<") {
		t.Errorf("error shows the key or HTML: %v", e)
	}
	if e.RetryAfter != r.retry {
		t.Errorf("RetryAfter = %s, want %s", e.RetryAfter, r.retry)
	}
}

// listener gathers the deltas.
type listener struct {
	content, reasoning string
	calls              map[int]ToolCallDelta
}

func (l *listener) take(d Delta) error {
	l.content += d.Content
	l.reasoning += d.Reasoning
	if d.ToolCall != nil {
		if l.calls == nil {
			l.calls = map[int]ToolCallDelta{}
		}
		l.calls[d.ToolCall.Index] = *d.ToolCall
	}
	return nil
}

// agrees checks that whoever only listened knows the same answer.
func (l *listener) agrees(t *testing.T, a Answer) {
	t.Helper()
	if l.content != a.Content {
		t.Errorf("deltas gave %q, the answer %q", brief(l.content), brief(a.Content))
	}
	for i, d := range l.calls {
		if i >= len(a.ToolCalls) || a.ToolCalls[i].Name != d.Name || !strings.HasPrefix(a.ToolCalls[i].Arguments, d.Arguments) {
			t.Errorf("deltas gave call %+v, the answer %+v", d, a.ToolCalls)
		}
	}
}

func brief(s string) string {
	if len(s) > 100 {
		return fmt.Sprintf("%s… (%d bytes)", s[:100], len(s))
	}
	return s
}

func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("got %q: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("JSON\n got %s\nwant %s", got, want)
	}
}

const done = "data: [DONE]\n\n"

// sse frames each payload as an event.
func sse(payloads ...string) string {
	var out strings.Builder
	for _, p := range payloads {
		out.WriteString("data: " + p + "\n\n")
	}
	return out.String()
}

func delta(object string) string {
	return `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + object + `,"finish_reason":null}]}`
}

func words(s string) string { return delta(`{"content":` + string(quoted(s)) + `}`) }

func calling(calls string) string { return delta(`{"tool_calls":[` + calls + `]}`) }

func finish(reason string) string {
	return `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}
