package scriptmodel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
)

const (
	tools  = `,"tools":[{"type":"function","function":{"name":"show","description":"shows","parameters":{"type":"object"}}}]`
	user   = `{"role":"user","content":"go"}`
	calls  = `{"role":"assistant","content":null,"tool_calls":[{"id":"A","type":"function","function":{"name":"show","arguments":"{}"}}]}`
	result = `{"role":"tool","tool_call_id":"A","content":"up"}`
)

func request(more string, messages ...string) string {
	return `{"model":"m","stream":true` + more + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

func start(t *testing.T, s scriptmodel.Strict) *scriptmodel.Server {
	model := scriptmodel.Start()
	t.Cleanup(model.Close)
	model.Demand(s)
	model.Otherwise(func(r *scriptmodel.Reply) { r.Say("ok") })
	return model
}

// post sends a body and gives the status and the answer.
func post(t *testing.T, model *scriptmodel.Server, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, model.BaseURL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// TestStrict has a request for each rule, and the same request in order.
func TestStrict(t *testing.T) {
	call := func(id, name, arguments string) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}`, id, name, arguments)
	}
	second := `{"role":"assistant","content":"look","tool_calls":[{"id":"B","type":"function","function":{"name":"show","arguments":"{\"a\":1}"}}]}`
	for _, c := range []struct {
		name   string
		strict scriptmodel.Strict
		body   string
		rule   string // "" for a request in order
	}{
		{"a question", scriptmodel.Strict{}, request("", user), ""},
		{"all that is documented", scriptmodel.Strict{}, request(tools+`,"temperature":0,"max_tokens":5,"stream_options":{"include_usage":true}`,
			`{"role":"system","content":"be good"}`, user, calls, result, second, `{"role":"tool","tool_call_id":"B","content":"x"}`), ""},
		{"the key", scriptmodel.Strict{Key: "key"}, request("", user), ""},
		{"another key", scriptmodel.Strict{Key: "other"}, request("", user), scriptmodel.RuleKey},
		{"not JSON", scriptmodel.Strict{}, `{"model":`, scriptmodel.RuleJSON},
		{"a call without a result", scriptmodel.Strict{}, request(tools, user, calls, user), scriptmodel.RulePair},
		{"a result without a call", scriptmodel.Strict{}, request(tools, user, result), scriptmodel.RulePair},
		{"a result of another call", scriptmodel.Strict{}, request(tools, user, calls, `{"role":"tool","tool_call_id":"B","content":"up"}`), scriptmodel.RulePair},
		{"two results", scriptmodel.Strict{}, request(tools, user, calls, result, result), scriptmodel.RulePair},
		{"an id again", scriptmodel.Strict{}, request(tools, user, calls, result, calls, result), scriptmodel.RuleID},
		{"no id", scriptmodel.Strict{}, request(tools, user, call("", "show", "{}"), result), scriptmodel.RuleID},
		{"an id of another form", scriptmodel.Strict{CallID: regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)}, request(tools, user, calls, result), scriptmodel.RuleID},
		{"arguments cut", scriptmodel.Strict{}, request(tools, user, call("A", "show", `{"a":`), result), scriptmodel.RuleArguments},
		{"arguments spliced", scriptmodel.Strict{}, request(tools, user, call("A", "show", `{"a":1}{"b":2}`), result), scriptmodel.RuleArguments},
		{"arguments null", scriptmodel.Strict{}, request(tools, user, call("A", "show", `null`), result), scriptmodel.RuleArguments},
		{"arguments a list", scriptmodel.Strict{}, request(tools, user, call("A", "show", `[1]`), result), scriptmodel.RuleArguments},
		{"arguments as an object", scriptmodel.Strict{}, request(tools, user, strings.Replace(calls, `"{}"`, `{}`, 1), result), scriptmodel.RuleArguments},
		{"no name", scriptmodel.Strict{}, request(tools, user, call("A", "", `{}`), result), scriptmodel.RuleName},
		{"a name with a dot", scriptmodel.Strict{}, request(tools, user, call("A", "a.b", `{}`), result), scriptmodel.RuleName},
		{"a name of 65", scriptmodel.Strict{}, request(tools, user, call("A", strings.Repeat("n", 65), `{}`), result), scriptmodel.RuleName},
		{"a tool's name with a blank", scriptmodel.Strict{}, request(strings.Replace(tools, "show", "sh ow", 1), user), scriptmodel.RuleName},
		{"no tools", scriptmodel.Strict{}, request(`,"tools":[]`, user), scriptmodel.RuleTool},
		{"calls without tools", scriptmodel.Strict{}, request("", user, calls, result), scriptmodel.RuleTool},
		{"a tool without a schema", scriptmodel.Strict{}, request(strings.Replace(tools, `,"parameters":{"type":"object"}`, "", 1), user), scriptmodel.RuleTool},
		{"a field of the request", scriptmodel.Strict{}, request(`,"thinking":{}`, user), scriptmodel.RuleField},
		{"a field of a message", scriptmodel.Strict{}, request("", `{"role":"user","content":"go","id":"7"}`), scriptmodel.RuleField},
		{"a field of another role", scriptmodel.Strict{}, request("", `{"role":"user","content":"go","tool_calls":[]}`), scriptmodel.RuleField},
		{"reasoning of others", scriptmodel.Strict{}, request("", user, `{"role":"assistant","content":"x","reasoning_content":"hm"}`, user), scriptmodel.RuleField},
		{"a field of a call", scriptmodel.Strict{}, request(tools, user, strings.Replace(calls, `"id"`, `"index":0,"id"`, 1), result), scriptmodel.RuleField},
		{"a field of a function", scriptmodel.Strict{}, request(tools, user, strings.Replace(calls, `"name"`, `"x":0,"name"`, 1), result), scriptmodel.RuleField},
		{"a field of a tool", scriptmodel.Strict{}, request(strings.Replace(tools, `"description"`, `"x":0,"description"`, 1), user), scriptmodel.RuleField},
		{"a field that is allowed", scriptmodel.Strict{Extra: []string{"thinking"}}, request(`,"thinking":{}`, user), ""},
		{"a parameter that isn't taken", scriptmodel.Strict{Refuses: []string{"temperature"}}, request(`,"temperature":1`, user), scriptmodel.RuleParameter},
		{"a parameter out of bounds", scriptmodel.Strict{}, request(`,"temperature":3`, user), scriptmodel.RuleParameter},
		{"both bounds", scriptmodel.Strict{}, request(`,"max_tokens":3,"max_completion_tokens":3`, user), scriptmodel.RuleParameter},
		{"not a stream", scriptmodel.Strict{}, strings.Replace(request("", user), `"stream":true,`, "", 1), scriptmodel.RuleParameter},
		{"no messages", scriptmodel.Strict{}, request(""), scriptmodel.RuleOrder},
		{"system not first", scriptmodel.Strict{}, request("", user, `{"role":"system","content":"x"}`), scriptmodel.RuleOrder},
		{"an assistant first", scriptmodel.Strict{}, request("", `{"role":"assistant","content":"x"}`, user), scriptmodel.RuleOrder},
		{"two users", scriptmodel.Strict{}, request("", user, user), scriptmodel.RuleOrder},
		{"an assistant last", scriptmodel.Strict{}, request("", user, `{"role":"assistant","content":"x"}`), scriptmodel.RuleOrder},
		{"a user behind a tool", scriptmodel.Strict{}, request(tools, user, calls, result, user), ""},
		{"no user behind a tool", scriptmodel.Strict{AssistantAfterTool: true}, request(tools, user, calls, result, user), scriptmodel.RuleOrder},
		{"an unknown role", scriptmodel.Strict{}, request("", `{"role":"function","content":"x"}`), scriptmodel.RuleRole},
		{"content null", scriptmodel.Strict{}, request("", user, `{"role":"assistant","content":null}`, user), scriptmodel.RuleContent},
		{"no content", scriptmodel.Strict{}, request("", `{"role":"user"}`), scriptmodel.RuleContent},
		{"empty content", scriptmodel.Strict{}, request("", `{"role":"user","content":" "}`), scriptmodel.RuleContent},
		{"an empty result", scriptmodel.Strict{}, request(tools, user, calls, strings.Replace(result, "up", "", 1)), scriptmodel.RuleContent},
		{"reasoning of nobody", scriptmodel.Strict{Reasoning: "reasoning_content"}, request(tools, user, calls, result), ""},
		{"reasoning always", scriptmodel.Strict{Reasoning: "reasoning_content", ReasoningAlways: true}, request(tools, user, calls, result), scriptmodel.RuleReasoning},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := start(t, c.strict)
			status, answer := post(t, model, c.body)
			refusals := model.Refusals()
			if c.rule == "" {
				if status != http.StatusOK || len(refusals) > 0 {
					t.Errorf("status %d: %s", status, answer)
				}
				return
			}
			var said struct {
				Error struct{ Message, Type, Code string }
			}
			if err := json.Unmarshal([]byte(answer), &said); err != nil || said.Error.Code != c.rule || said.Error.Message == "" {
				t.Errorf("status %d: %s (%v)", status, answer, err)
			}
			if len(refusals) != 1 || refusals[0].Rule != c.rule || string(refusals[0].Body) != c.body || len(model.Asked()) != 0 {
				t.Errorf("refusals %v, asked %d", refusals, len(model.Asked()))
			}
			if sent := model.Sent(); len(sent) != 1 || !bytes.Equal(sent[0], []byte(c.body)) {
				t.Errorf("sent %s", sent)
			}
		})
	}
}

// TestStrictAboutReasoning lets the model think, call under an id of its own that it uses in each round, and ask for its thoughts.
func TestStrictAboutReasoning(t *testing.T) {
	model := start(t, scriptmodel.Strict{Reasoning: "reasoning_content"})
	think := func(thought string) scriptmodel.Step {
		return func(r *scriptmodel.Reply) {
			r.Think(thought)
			r.Say("look")
			r.CallAs("show:0", "show", `{"a":1}`)
		}
	}
	model.On("go", think("hm"), think("ha"))
	status, answer := post(t, model, request(tools, user))
	if status != http.StatusOK || !strings.Contains(answer, `{"reasoning_content":"hm"}`) || !strings.Contains(answer, `"id":"show:0"`) || strings.Contains(answer, `"usage"`) {
		t.Fatalf("status %d: %s", status, answer)
	}
	back := func(id, reasoning string) string {
		return fmt.Sprintf(`{"role":"assistant","content":"look"%s,"tool_calls":[{"id":%q,"type":"function","function":{"name":"show","arguments":"{\"a\":1}"}}]},`+
			`{"role":"tool","tool_call_id":%q,"content":"up"}`, reasoning, id, id)
	}
	for _, c := range []struct{ name, reasoning, rule string }{
		{"missing", "", scriptmodel.RuleReasoning},
		{"changed", `,"reasoning_content":"other"`, scriptmodel.RuleReasoning},
		{"as it was", `,"reasoning_content":"hm"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(model.Refusals())
			status, answer := post(t, model, request(tools+`,"stream_options":{"include_usage":true}`, user, back("own_1", c.reasoning)))
			refused := model.Refusals()[before:]
			if c.rule == "" && (len(refused) > 0 || !strings.Contains(answer, `"prompt_tokens"`)) || c.rule != "" && (len(refused) != 1 || refused[0].Rule != c.rule) {
				t.Errorf("status %d: %s", status, answer)
			}
		})
	}
}
