package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
)

// conversation is what a turn keeps and sends again. Its calls get ids of its own, as the product gives them.
type conversation struct {
	t        *testing.T
	messages []Message
	round    int
}

// ask sends the conversation to a client that was made just now, and keeps the answer as a database would, with a result for each call.
func (c *conversation) ask(client *Client, model *scriptmodel.Server) Answer {
	c.t.Helper()
	again := newClient(c.t, Options{Provider: client.form.provider.name, BaseURL: model.BaseURL(), APIKey: testKey, Transport: client.base})
	answer := accepted(c.t, again, model, Request{Messages: c.messages, Tools: showTools()})
	c.keep(answer)
	return answer
}

func (c *conversation) keep(answer Answer) {
	c.t.Helper()
	c.round++
	m := answer.Message()
	m.ToolCalls = slices.Clone(m.ToolCalls)
	var results []Message
	for i := range m.ToolCalls {
		m.ToolCalls[i].ID = fmt.Sprintf("own_%d_%d", c.round, i)
		results = append(results, result(m.ToolCalls[i].ID, "up"))
	}
	stored, err := json.Marshal(append([]Message{m}, results...))
	if err != nil {
		c.t.Fatal(err)
	}
	var back []Message
	if err := json.Unmarshal(stored, &back); err != nil {
		c.t.Fatal(err)
	}
	c.messages = append(c.messages, back...)
}

func (c *conversation) say(words string) { c.messages = append(c.messages, user(words)) }

// raw answers with bytes, as a provider's faults can't be said otherwise.
func raw(payloads ...string) scriptmodel.Step {
	return func(r *scriptmodel.Reply) { r.Whole(200, sse(payloads...)+done, "Content-Type", "text/event-stream") }
}

// ownIDs is A4: a call comes without an id, and goes back with one that its result has too.
func ownIDs(t *testing.T) {
	client, model := strictClient(t, "ollama", scriptmodel.Strict{})
	model.On("go", raw(calling(`{"index":0,"function":{"name":"show","arguments":"{\"a\":1}"}}`), finish("tool_calls")))
	c := conversation{t: t, messages: []Message{user("go")}}
	if answer := c.ask(client, model); len(answer.ToolCalls) != 1 || answer.ToolCalls[0].Arguments != `{"a":1}` {
		t.Fatalf("answer %+v", answer)
	}
	if answer := c.ask(client, model); answer.Content != "ok" {
		t.Errorf("answer %+v", answer)
	}
}

// spliced is A22: arguments that are two objects, of a tool that doesn't exist, don't poison the conversation.
func spliced(t *testing.T) {
	client, model := strictClient(t, "openai", scriptmodel.Strict{})
	model.On("go", raw(calling(`{"index":0,"id":"A","function":{"name":"runt_5_shell__run","arguments":"{\"a\":1}{\"b\":2}"}}`), finish("tool_calls")))
	c := conversation{t: t, messages: []Message{user("go")}}
	if answer := c.ask(client, model); answer.ToolCalls[0].Arguments != `{"a":1}{"b":2}` {
		t.Errorf("answer %+v", answer)
	}
	if answer := c.ask(client, model); answer.Content != "ok" {
		t.Errorf("answer %+v", answer)
	}
	if sent := lastSent(model); !strings.Contains(sent, `{\"invalid_json\":\"{\\\"a\\\":1}{\\\"b\\\":2}\"}`) {
		t.Errorf("the model doesn't see what it wrote: %s", sent)
	}
}

// reasoningComesBack is A23: DeepSeek wants the reasoning of each message with tool calls, in all requests from then on, and that of answers
// not at all. Between two rounds nothing is left but what is stored.
func reasoningComesBack(t *testing.T) {
	client, model := strictClient(t, "deepseek", scriptmodel.Strict{Reasoning: "reasoning_content", ReasoningAlways: true})
	think := func(thought string) scriptmodel.Step {
		return func(r *scriptmodel.Reply) {
			for _, piece := range strings.SplitAfter(thought, " ") {
				r.Think(piece)
			}
			r.Say("\n")
			r.CallAs("show:0", "show", fmt.Sprintf(`{"thought":%q}`, thought))
		}
	}
	model.On("go", think("first ä🙂"), think("second thought"), func(r *scriptmodel.Reply) { r.Think("third"); r.Say("done") })
	c := conversation{t: t, messages: []Message{user("go")}}
	for range 3 {
		c.ask(client, model)
	}
	c.say("again")
	c.ask(client, model)
	sent := lastSent(model)
	for _, thought := range []string{"first ä🙂", "second thought"} {
		if !strings.Contains(sent, `"reasoning_content":"`+thought+`"`) {
			t.Errorf("%q isn't in %s", thought, sent)
		}
	}
	if strings.Contains(sent, "third") {
		t.Errorf("the reasoning of an answer in %s", sent)
	}
	t.Run("without any", func(t *testing.T) { // the field has to be there nevertheless
		model.On("quickly", func(r *scriptmodel.Reply) { r.Call("show", `{}`) })
		c := conversation{t: t, messages: []Message{user("quickly")}}
		c.ask(client, model)
		c.ask(client, model)
	})
}

// switchOfProvider is A24: a conversation goes from one strict provider to the next, each refusing the others' fields and wanting its own,
// and after each a user's message follows another that was never answered.
func switchOfProvider(t *testing.T) {
	deepseek, deepseekModel := strictClient(t, "deepseek", scriptmodel.Strict{Reasoning: "reasoning_content", ReasoningAlways: true})
	openai, openaiModel := strictClient(t, "openai", scriptmodel.Strict{})
	google, googleModel := strictClient(t, "gemini", scriptmodel.Strict{Extra: []string{"extra_content"}})
	mistral, mistralModel := strictClient(t, "mistral", scriptmodel.Strict{CallID: nineCharacters, AssistantAfterTool: true, Refuses: []string{"stream_options"}})

	signature := `{"google":{"thought_signature":"c2ln"}}`
	c := conversation{t: t}
	for _, at := range []struct {
		client *Client
		model  *scriptmodel.Server
		step   scriptmodel.Step
	}{
		{deepseek, deepseekModel, func(r *scriptmodel.Reply) { r.Think("deep"); r.Call("show", `{"a":1}`) }},
		{openai, openaiModel, func(r *scriptmodel.Reply) { r.Call("show", `{"a":2}`) }},
		{google, googleModel, raw(calling(`{"index":0,"id":"g","type":"function","extra_content":`+signature+`,"function":{"name":"show","arguments":"{}"}}`), finish("tool_calls"))},
		{mistral, mistralModel, func(r *scriptmodel.Reply) { r.Call("show", `{"a":3}`) }},
		{google, googleModel, func(r *scriptmodel.Reply) { r.Call("ping", `{}`) }},
		{deepseek, deepseekModel, func(r *scriptmodel.Reply) { r.Call("ping", `{}`) }},
	} {
		at.model.Otherwise(at.step)
		c.say("the first try")
		c.say("another word")
		c.ask(at.client, at.model)
		at.model.Otherwise(func(r *scriptmodel.Reply) { r.Say("ok") })
		if answer := c.ask(at.client, at.model); answer.Content != "ok" {
			t.Errorf("answer %+v", answer)
		}
		c.messages = c.messages[:len(c.messages)-1] // the turn was aborted before it
	}
	for _, model := range []*scriptmodel.Server{deepseekModel, openaiModel, googleModel, mistralModel} {
		if refused := model.Refusals(); len(refused) > 0 {
			t.Errorf("refused: %v", refused)
		}
	}
	var back struct {
		Messages []struct {
			ToolCalls []struct {
				Extra json.RawMessage `json:"extra_content"`
			} `json:"tool_calls"`
		}
	}
	sent := googleModel.Sent()
	if err := json.Unmarshal(sent[len(sent)-1], &back); err != nil {
		t.Fatal(err)
	}
	var signatures []string
	for _, m := range back.Messages {
		for _, call := range m.ToolCalls {
			signatures = append(signatures, string(call.Extra))
		}
	}
	want := []string{noSignature, noSignature, signature, noSignature, ""}
	if fmt.Sprint(signatures) != fmt.Sprint(want) {
		t.Errorf("signatures\n got %q\nwant %q", signatures, want)
	}
}

// idsAgain is A30: a provider numbers the calls of each answer anew, and gives one id to two calls of an answer.
func idsAgain(t *testing.T) {
	client, model := strictClient(t, "vllm", scriptmodel.Strict{})
	twice := func(r *scriptmodel.Reply) {
		r.CallAs("show:0", "show", `{"a":1}`)
		r.CallAs("show:0", "show", `{"a":1}`)
	}
	model.On("go", twice, twice)
	c := conversation{t: t, messages: []Message{user("go")}}
	for range 2 {
		if answer := c.ask(client, model); len(answer.ToolCalls) != 2 || answer.ToolCalls[1].ID != "show:0" {
			t.Fatalf("answer %+v", answer)
		}
	}
	if answer := c.ask(client, model); answer.Content != "ok" {
		t.Errorf("answer %+v", answer)
	}
}
