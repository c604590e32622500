package dev_test

import (
	"regexp"
	"strings"
	"testing"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"
)

// strictModels starts a stack whose models are as strict as these, in their order, and logs in. At the test's end none may have refused
// anything.
func strictModels(t *testing.T, providers []string, demands ...scriptmodel.Strict) (user, []*scriptmodel.Server) {
	t.Helper()
	models := make([]*scriptmodel.Server, len(demands))
	s := startOwn(t, func(o *dev.Options) {
		o.Worker.Models = nil
		for i, strict := range demands {
			models[i] = scriptmodel.Start()
			t.Cleanup(models[i].Close)
			models[i].Demand(strict)
			o.Worker.Models = append(o.Worker.Models, stack.Model{ID: schema.ServerModels, Name: providers[i], Provider: providers[i],
				BaseURL: models[i].BaseURL(), Model: "scripted", ContextLimit: 128, ContextStrategy: schema.ContextBalanced})
		}
	})
	t.Cleanup(func() {
		for i, m := range models {
			for _, r := range m.Refusals() {
				t.Errorf("%s refused: %v", providers[i], r)
			}
		}
	})
	return loginAt(t, s.URL(), "admin"), models
}

// TestStrictModel plays what strict providers are known to refuse later on: calls with one id, an invented tool, arguments that are no
// object, thoughts before a call, a turn that failed before it was answered.
func TestStrictModel(t *testing.T) {
	u, models := strictModels(t, []string{"mistral"}, scriptmodel.Strict{CallID: regexp.MustCompile(`^[a-zA-Z0-9]{9}$`), AssistantAfterTool: true, Refuses: []string{"stream_options"}})
	model, session := models[0], newSession()
	twice := func(r *scriptmodel.Reply) {
		r.CallAs("read:0", "gns3_topology_reader", "{}")
		r.CallAs("read:0", "gns3_topology_reader", "{}")
	}
	model.On("A30 one id", twice, twice, text("read four times"))
	events := u.say(session, "A30 one id")
	ran := map[string]bool{}
	for _, ev := range events {
		if ev.Type == schema.EventToolEnd {
			ran[ev.ToolCallID] = true
		}
	}
	if said(events) != "read four times" || len(ran) != 4 {
		t.Errorf("ran %v: %s %q", ran, types(events), said(events))
	}

	model.On("A22 an invented tool", func(r *scriptmodel.Reply) { r.CallAs("x", "runt_5_shell__run", `{"a":1}{"b":2}`) },
		func(r *scriptmodel.Reply) { r.CallAs("x", "gns3_topology_reader", `{"a":1}{"b":2}`) },
		func(r *scriptmodel.Reply) { r.CallAs("x", "no such.tool", "") }, text("I see"))
	if events = u.say(session, "A22 an invented tool"); said(events) != "I see" {
		t.Errorf("%s %q", types(events), said(events))
	}
	var results []string
	for _, m := range u.history(session).Messages {
		if m.Role == "tool" {
			results = append(results, m.Content)
		}
	}
	if len(results) != 7 || !strings.Contains(results[4], "runt_5_shell__run") || !strings.Contains(results[4], "gns3_topology_reader") {
		t.Errorf("results %q", results)
	}

	model.On("fail behind a tool", call("gns3_topology_reader", "{}"), status(401, reason, kind, asJSON))
	model.On("fail at once", status(401, reason, kind, asJSON))
	u.say(session, "fail behind a tool")
	u.say(session, "fail at once")
	model.On("and now", text("fine"))
	if events = u.say(session, "and now"); said(events) != "fine" {
		t.Errorf("%s %q", types(events), said(events))
	}
}

// TestA24SwitchOfProvider lets a provider that thinks fail in mid-turn, another go on, and the first come back: each gets its own fields and
// none of the other's.
func TestA24SwitchOfProvider(t *testing.T) {
	u, models := strictModels(t, []string{"deepseek", "openai"}, scriptmodel.Strict{Reasoning: "reasoning_content", ReasoningAlways: true}, scriptmodel.Strict{})
	first, second, session := models[0], models[1], newSession()
	think := func(r *scriptmodel.Reply) {
		r.Think("I look at it")
		r.Call("gns3_topology_reader", "{}")
	}
	first.On("go", think, status(401, reason, kind, asJSON))
	second.On("go", nil, call("gns3_topology_reader", "{ }"), text("said the second"))
	if events := u.say(session, "go"); said(events) != "said the second" {
		t.Fatalf("%s %q", types(events), said(events))
	}
	first.On("again", think, text("said the first"))
	if events := u.say(session, "again"); said(events) != "said the first" {
		t.Fatalf("%s %q", types(events), said(events))
	}
	sent := first.Sent()
	if body := string(sent[len(sent)-1]); strings.Count(body, `"reasoning_content":"I look at it"`) != 2 || strings.Count(body, `"reasoning_content"`) != 3 {
		t.Errorf("the first doesn't get back its own thoughts: %s", body)
	}
	if len(second.Sent()) < 2 {
		t.Errorf("the second was asked %d times", len(second.Sent()))
	}
}
