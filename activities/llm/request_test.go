package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// strictClient starts a strict model, and gives a client of it as this provider's.
func strictClient(t *testing.T, provider string, strict scriptmodel.Strict) (*Client, *scriptmodel.Server) {
	t.Helper()
	model := scriptmodel.Start()
	t.Cleanup(model.Close)
	strict.Key = testKey
	model.Demand(strict)
	model.Otherwise(func(r *scriptmodel.Reply) { r.Say("ok") })
	transport := NewTransport(schema.ModelHosts{})
	t.Cleanup(transport.CloseIdleConnections)
	return newClient(t, Options{Provider: provider, BaseURL: model.BaseURL(), APIKey: testKey, Transport: transport}), model
}

// accepted sends a request and wants it accepted. It gives the answer.
func accepted(t *testing.T, c *Client, model *scriptmodel.Server, r Request) Answer {
	t.Helper()
	answer, err := c.Stream(t.Context(), r, nil)
	if err != nil {
		t.Fatalf("%v\nrefused: %v\nsent: %s", err, model.Refusals(), lastSent(model))
	}
	return answer
}

func lastSent(model *scriptmodel.Server) string {
	sent := model.Sent()
	return string(sent[len(sent)-1])
}

// sentMessages gives the messages of the last request.
func sentMessages(t *testing.T, model *scriptmodel.Server) []map[string]any {
	t.Helper()
	var request struct{ Messages []map[string]any }
	if err := json.Unmarshal([]byte(lastSent(model)), &request); err != nil {
		t.Fatal(err)
	}
	return request.Messages
}

func user(words string) Message { return Message{Role: "user", Content: words} }

func result(id, words string) Message { return Message{Role: "tool", ToolCallID: id, Content: words} }

func asks(list ...ToolCall) Message { return Message{Role: "assistant", ToolCalls: list} }

func showTools() []Tool { return []Tool{{Name: "show"}, {Name: "ping"}} }

func TestRequestIsStrict(t *testing.T) {
	zero := float32(0)
	two := asks(ToolCall{ID: "A", Name: "show", Arguments: `{"a":"<b>"}`}, ToolCall{ID: "B", Name: "ping", Arguments: "{}"})
	request := Request{
		Messages: []Message{{Role: "system", Content: "You help with labs."}, user("show <R1> & \"R2\""), two, result("A", " "), result("B", "pong")},
		Tools: []Tool{{Name: "show", Description: "shows", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
			{Name: "ping"}},
		Temperature: &zero,
		MaxTokens:   100,
	}
	c, model := strictClient(t, "", scriptmodel.Strict{})
	if answer := accepted(t, c, model, request); answer.Usage != (Usage{Input: 100, Output: 50}) || answer.ExtraFrom != "custom/"+c.host {
		t.Errorf("answer = %+v", answer)
	}
	sameJSON(t, lastSent(model), `{"model":"test-model","stream":true,"stream_options":{"include_usage":true},"temperature":0,"max_tokens":100,
		"messages":[{"role":"system","content":"You help with labs."},{"role":"user","content":"show <R1> & \"R2\""},
			{"role":"assistant","content":null,"tool_calls":[{"id":"A","type":"function","function":{"name":"show","arguments":"{\"a\":\"<b>\"}"}},
				{"id":"B","type":"function","function":{"name":"ping","arguments":"{}"}}]},
			{"role":"tool","content":"(no output)","tool_call_id":"A"},{"role":"tool","content":"pong","tool_call_id":"B"}],
		"tools":[{"type":"function","function":{"name":"show","description":"shows","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}},
			{"type":"function","function":{"name":"ping","parameters":{"type":"object","properties":{}}}}]}`)

	one := ToolCall{ID: "A", Name: "show", Arguments: "{}"}
	for rule, bad := range map[string][]Message{
		scriptmodel.RulePair:  {user("go"), two, result("A", "up")},
		scriptmodel.RuleID:    {user("go"), asks(one, one), result("A", "up"), result("A", "up")},
		scriptmodel.RuleOrder: {result("Z", "x")},
		scriptmodel.RuleField: {user("go"), {Role: "assistant", Content: "x", Extra: json.RawMessage(`{"reasoning_content":"hm"}`)}, user("go")},
	} {
		t.Run("not mended: "+rule, func(t *testing.T) {
			_, err := c.Stream(context.Background(), Request{Messages: bad, Tools: showTools()}, nil)
			if refused := model.Refusals(); schema.CodeOf(err) != schema.CodeModelRefused || refused[len(refused)-1].Rule != rule {
				t.Errorf("error = %v, want the server's refusal", err)
			}
		})
	}
}

// TestNeighbours holds what becomes of messages that a strict provider doesn't want beside each other, or at all.
func TestNeighbours(t *testing.T) {
	say := func(words string) Message { return Message{Role: "assistant", Content: words} }
	show := ToolCall{ID: "A", Name: "show", Arguments: "{}"}
	for _, c := range []struct {
		name string
		in   []Message
		want string // role=content, in a row
	}{
		{"two users", []Message{user("a"), user("b"), user("c")}, "user=a\n\nb\n\nc"},
		{"an answer without a word", []Message{user("a"), say(""), user("b")}, "user=a\n\nb"},
		{"two answers", []Message{user("a"), say("b"), say("c"), user("d")}, "user=a assistant=b\n\nc user=d"},
		{"an answer, then a call", []Message{user("a"), say("b"), asks(show), result("A", "up")}, "user=a assistant=b tool=up"},
		{"a call after a line break", []Message{user("a"), {Role: "assistant", Content: "\n\n", ToolCalls: []ToolCall{show}}, result("A", "up")}, "user=a assistant=<nil> tool=up"},
		{"a user behind a tool", []Message{user("a"), asks(show), result("A", "up"), user("b")}, "user=a assistant=<nil> tool=up user=b"},
		{"two systems", []Message{{Role: "system", Content: "x"}, {Role: "system", Content: "y"}, user("a")}, "system=x\n\ny user=a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, model := strictClient(t, "openai", scriptmodel.Strict{})
			before := fmt.Sprint(c.in)
			accepted(t, client, model, Request{Messages: c.in, Tools: showTools()})
			var got []string
			for _, m := range sentMessages(t, model) {
				got = append(got, fmt.Sprintf("%v=%v", m["role"], m["content"]))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
			if fmt.Sprint(c.in) != before {
				t.Errorf("the caller's messages have changed: %v", c.in)
			}
		})
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

// TestExtrasRoundTrip plays a provider that refuses a conversation in which its reasoning or its signatures are missing or changed.
func TestExtrasRoundTrip(t *testing.T) {
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
	user := user("go")
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
	c, _ := strictClient(t, "", scriptmodel.Strict{})
	for name, m := range map[string]Message{
		"of a message":  {Role: "assistant", Content: "x", Extra: json.RawMessage(`[1]`)},
		"of a call":     {Role: "assistant", ToolCalls: []ToolCall{{ID: "A", Name: "show", Arguments: "{}", Extra: json.RawMessage(`{"a"`)}}},
		"of a function": {Role: "assistant", ToolCalls: []ToolCall{{ID: "A", Name: "show", Arguments: "{}", Extra: json.RawMessage(`{"function":3}`)}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Stream(context.Background(), Request{Messages: []Message{user("go"), m}}, nil)
			if schema.CodeOf(err) != schema.CodeInternal || !strings.Contains(err.Error(), "extra fields") {
				t.Errorf("error = %v", err)
			}
		})
	}
}
