package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/schema"
)

// strictRequest is what a strict provider accepts: any other field is refused.
type strictRequest struct {
	Model         string          `json:"model"`
	Messages      []strictMessage `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Temperature         *float64 `json:"temperature"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	Tools               []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type strictMessage struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"`
	Name       string  `json:"name"`
	ToolCallID string  `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// check gives the reason for which a strict provider refuses the request, or "".
func (r strictRequest) check() string {
	open := map[string]bool{}
	seen := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Sprintf("message %d: tool calls without a tool message", i)
		}
		if m.Content == nil && len(m.ToolCalls) == 0 {
			return fmt.Sprintf("message %d has no content", i)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || seen[c.ID] || c.Type != "function" || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Sprintf("message %d: bad tool call %+v", i, c)
			}
			seen[c.ID], open[c.ID] = true, true
		}
		if m.Role == "tool" && !open[m.ToolCallID] {
			return fmt.Sprintf("message %d answers no tool call", i)
		}
		delete(open, m.ToolCallID)
	}
	switch {
	case len(open) > 0:
		return "tool calls without a tool message"
	case !r.Stream || !r.StreamOptions.IncludeUsage:
		return "not a stream with usage"
	}
	return ""
}

// strictServer answers "ok" to requests that a strict provider accepts, 400 to others, and shows the last request.
func strictServer(t *testing.T) (*Client, *strictRequest) {
	last := &strictRequest{}
	return newServer(t, func(w http.ResponseWriter, r *http.Request) {
		*last = strictRequest{}
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		fault := ""
		if err := d.Decode(last); err != nil {
			fault = err.Error()
		} else {
			fault = last.check()
		}
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+testKey || r.Header.Get("Content-Type") != "application/json" {
			fault = "wrong path or headers"
		}
		if fault != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, fault)
			return
		}
		script{body: sse(words("ok"), finish("stop")) + done}.serve(w, 0)
	}), last
}

func conversation(calls []ToolCall, results ...Message) []Message {
	messages := []Message{
		{Role: "system", Content: "You help with labs."},
		{Role: "user", Content: "show <R1> & \"R2\""},
		{Role: "assistant", ToolCalls: calls},
	}
	return append(messages, results...)
}

func TestRequestIsStrict(t *testing.T) {
	zero := float32(0)
	calls := []ToolCall{{ID: "A", Name: "show", Arguments: `{"a":"<b>"}`}, {ID: "B", Name: "ping", Arguments: "{}"}}
	request := Request{
		Messages:    conversation(calls, Message{Role: "tool", ToolCallID: "A", Content: ""}, Message{Role: "tool", ToolCallID: "B", Content: "pong"}),
		Tools:       []Tool{{Name: "show", Description: "shows", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}, {Name: "ping"}},
		Temperature: &zero,
		MaxTokens:   100,
	}
	c, got := strictServer(t)
	if _, err := c.Stream(context.Background(), request, nil); err != nil {
		t.Fatal(err)
	}
	if got.Model != "test-model" || got.Temperature == nil || *got.Temperature != 0 || got.MaxTokens != 100 || got.MaxCompletionTokens != 0 {
		t.Errorf("request = %+v", got)
	}
	if m := got.Messages; *m[1].Content != "show <R1> & \"R2\"" || m[2].ToolCalls[0].Function.Arguments != `{"a":"<b>"}` || *m[3].Content != "" {
		t.Errorf("messages = %+v", got.Messages)
	}
	sameJSON(t, string(got.Tools[0].Function.Parameters), string(request.Tools[0].Parameters))
	sameJSON(t, string(got.Tools[1].Function.Parameters), `{"type":"object","properties":{}}`)

	for name, bad := range map[string][]Message{
		"unpaired call":         conversation(calls, Message{Role: "tool", ToolCallID: "A"}),
		"duplicate ids":         conversation([]ToolCall{calls[0], calls[0]}, Message{Role: "tool", ToolCallID: "A"}, Message{Role: "tool", ToolCallID: "A"}),
		"A24 a foreign extra":   {{Role: "assistant", Content: "x", Extra: json.RawMessage(`{"reasoning_content":"hm"}`)}},
		"result without a call": {{Role: "tool", ToolCallID: "Z", Content: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Stream(context.Background(), Request{Messages: bad}, nil)
			if schema.CodeOf(err) != schema.CodeModelRefused {
				t.Errorf("error = %v, want the server's refusal", err)
			}
		})
	}
}

func TestMaxTokensOfReasoningModels(t *testing.T) {
	c, got := strictServer(t)
	c.model = "o3-mini"
	if _, err := c.Stream(context.Background(), Request{MaxTokens: 50}, nil); err != nil {
		t.Fatal(err)
	}
	if got.MaxTokens != 0 || got.MaxCompletionTokens != 50 {
		t.Errorf("max_tokens = %d, max_completion_tokens = %d", got.MaxTokens, got.MaxCompletionTokens)
	}
}

func TestBaseURLForms(t *testing.T) {
	paths := make(chan string, 1)
	c := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.Path
		script{body: sse(words("ok"), finish("stop")) + done}.serve(w, 0)
	})
	for _, suffix := range []string{"", "/", "/chat/completions", "/chat/completions/"} {
		again := newClient(t, Options{BaseURL: " http://" + c.host + "/api/v1" + suffix, Transport: c.base})
		if _, err := again.Stream(context.Background(), Request{}, nil); err != nil {
			t.Fatal(err)
		}
		if path := <-paths; path != "/api/v1/chat/completions" {
			t.Errorf("base URL with %q asks for %s", suffix, path)
		}
	}
}

// TestA23ExtrasRoundTrip plays a provider that refuses a conversation in which its reasoning or its signatures are missing or changed.
func TestA23ExtrasRoundTrip(t *testing.T) {
	first := sse(
		delta(`{"role":"assistant","reasoning_content":"The user "}`),
		delta(`{"reasoning_content":"wants <R1> \u00e4\ud83d\ude42"}`),
		calling(`{"index":0,"id":"A","type":"function","extra_content":{"google":{"thought_signature":"c2l+/=="}},"function":{"name":"show","arguments":"{\"a\":1}","thought":"f"}}`),
		finish("tool_calls")) + done
	want := `{"role":"assistant","content":null,"reasoning_content":"The user wants <R1> ä🙂","tool_calls":[{"id":"A","type":"function",` +
		`"extra_content":{"google":{"thought_signature":"c2l+/=="}},"function":{"name":"show","arguments":"{\"a\":1}","thought":"f"}}]}`
	returned := make(chan string, 1)
	c := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Messages []json.RawMessage }
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		if len(request.Messages) == 1 {
			script{body: first}.serve(w, 0)
			return
		}
		returned <- string(request.Messages[1])
		script{body: sse(words("done"), finish("stop")) + done}.serve(w, 0)
	})
	user := Message{Role: "user", Content: "go"}
	answer, err := c.Stream(context.Background(), Request{Messages: []Message{user}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(answer.Message()) // the conversation waits in a database meanwhile
	if err != nil {
		t.Fatal(err)
	}
	var back Message
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stream(context.Background(), Request{Messages: []Message{user, back, {Role: "tool", ToolCallID: "A", Content: "up"}}}, nil); err != nil {
		t.Fatal(err)
	}
	sameJSON(t, <-returned, want)
}

func TestUnreadableExtras(t *testing.T) {
	c, _ := strictServer(t)
	for name, m := range map[string]Message{
		"of a message":  {Role: "assistant", Content: "x", Extra: json.RawMessage(`[1]`)},
		"of a call":     {Role: "assistant", ToolCalls: []ToolCall{{ID: "A", Name: "show", Arguments: "{}", Extra: json.RawMessage(`{"a"`)}}},
		"of a function": {Role: "assistant", ToolCalls: []ToolCall{{ID: "A", Name: "show", Arguments: "{}", Extra: json.RawMessage(`{"function":3}`)}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Stream(context.Background(), Request{Messages: []Message{m}}, nil)
			if schema.CodeOf(err) != schema.CodeInternal || !strings.Contains(err.Error(), "extra fields") {
				t.Errorf("error = %v", err)
			}
		})
	}
}
