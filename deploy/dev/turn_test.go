package dev_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

const commandsTool = "execute_multiple_device_commands"

func call(tool, arguments string) scriptmodel.Step {
	return func(r *scriptmodel.Reply) { r.Call(tool, arguments) }
}

func text(pieces ...string) scriptmodel.Step {
	return func(r *scriptmodel.Reply) {
		for _, p := range pieces {
			r.Say(p)
		}
	}
}

func toolResult(t *testing.T, events []client.Received) schema.ToolResponse {
	t.Helper()
	for _, ev := range events {
		if ev.Type == schema.EventToolEnd {
			var r schema.ToolResponse
			if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil {
				t.Fatalf("%v in %s", err, ev.ToolOutput)
			}
			return r
		}
	}
	t.Fatal("no tool_end")
	return schema.ToolResponse{}
}

func TestTurnWithATool(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("look at both routers",
		func(r *scriptmodel.Reply) {
			r.Say("I'll ")
			r.Say("look.")
			r.Call(commandsTool, `{"tool_input": "{\"device_configs\": [{\"device_name\": \"R1\", \"commands\": [\"show version\", \"sh ip int br\"]}, {\"device_name\": \"r2\", \"commands\": [\"show version\"]}]}"}`)
		},
		text("Both ", "are fine."))
	events := u.say(session, "look at both routers")

	if got := types(events); got != "content tool_call tool_start device_progress tool_end content done " {
		t.Errorf("order: %s", got)
	}
	if got := said(events); got != "I'll look.Both are fine." {
		t.Errorf("text: %q", got)
	}
	ids := map[string]bool{}
	for _, ev := range events {
		if ev.SessionID != session {
			t.Errorf("%s without its session", ev.Type)
		}
		if ev.ID == "" || ids[ev.ID] {
			t.Errorf("%s has the id %q", ev.Type, ev.ID)
		}
		ids[ev.ID] = true
	}
	r := toolResult(t, events)
	if !r.Success || r.Total != 2 || len(r.Data) != 2 || r.Data[0].Name != "R1" || r.Data[1].Name != "R2" {
		t.Fatalf("%+v", r)
	}
	if !strings.Contains(r.Data[0].Result, "R1#show version\n") || !strings.Contains(r.Data[0].Result, "Interface") || strings.Contains(r.Data[0].Result, "R1#\n") {
		t.Errorf("%s", r.Data[0].Result)
	}
	done := last(events)
	if done.StopReason != schema.StopComplete || done.Usage.LLMCalls != 2 || done.Usage.ToolCalls != 1 || done.Usage.TotalTokens != 300 {
		t.Errorf("%+v", done.Event)
	}

	h := u.history(session)
	var roles []string
	for _, m := range h.Messages {
		roles = append(roles, m.Role)
	}
	if fmt.Sprint(roles) != "[user assistant tool assistant]" || h.LLMCalls != 2 || h.Title != "A scripted title" {
		t.Errorf("%v %d %q", roles, h.LLMCalls, h.Title)
	}
	if _, ok := h.Messages[1].ToolCalls[0].Function.Arguments.(map[string]any); !ok {
		t.Errorf("arguments in the history: %T", h.Messages[1].ToolCalls[0].Function.Arguments)
	}
	for _, ev := range events {
		if ev.Type == schema.EventToolEnd && ev.ToolOutput != h.Messages[2].Content {
			t.Error("the stream and the history show different results")
		}
	}
	sessions, err := u.Sessions(t.Context(), u.project)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if s.ThreadID == session && (s.MessageCount != 3 || s.LLMCallsCount != 2 || s.TotalTokens != 300) {
			t.Errorf("counters: %+v", s)
		}
	}
}

func TestEachCallCompletesOnce(t *testing.T) {
	u := login(t, "admin")
	suite.model.On("two calls", func(r *scriptmodel.Reply) {
		r.Call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}`)
		r.Call("gns3_topology_reader", `{}`)
	}, text("ok"))
	events := u.say(newSession(), "two calls")
	complete, ended := map[string]int{}, map[string]int{}
	for _, ev := range events {
		switch {
		case ev.Type == schema.EventToolCall && ev.ToolCall.Function.Complete:
			complete[ev.ToolCall.ID]++
		case ev.Type == schema.EventToolEnd:
			ended[ev.ToolCallID]++
		}
	}
	if len(complete) != 2 || len(ended) != 2 {
		t.Fatalf("complete %v, ended %v", complete, ended)
	}
	for id, n := range complete {
		if n != 1 || ended[id] != 1 {
			t.Errorf("call %s: complete %d times, ended %d times", id, n, ended[id])
		}
	}
}

func TestCallsThatDoNotRun(t *testing.T) {
	u := login(t, "admin")
	before := len(suite.lab.Lines("R1"))
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"forbidden":       {commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version", "debug all"]}]}`, "Nothing was sent"},
		"unknown tool":    {"delete_everything", `{}`, "no tool named"},
		"broken JSON":     {commandsTool, `{"device_configs": [`, "not a JSON object"},
		"no JSON":         {commandsTool, `{bad`, "not a JSON object"},
		"cut envelope":    {commandsTool, `{"tool_input": "[{\"device_name\": \"R1\", "}`, "not a JSON object"},
		"two objects":     {commandsTool, `{"a":1}{"b":2}`, "not a JSON object"},
		"missing field":   {commandsTool, `{"device_configs": [{"device_name": "R1"}]}`, "commands"},
		"another project": {commandsTool, `{"project_id": "x", "device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`, "not this conversation's project"},
	} {
		suite.model.On("refuse "+name, call(c.tool, c.arguments), text("I see."))
		events := u.say(newSession(), "refuse "+name)
		r := toolResult(t, events)
		if r.Success || !strings.Contains(r.Error, c.want) || last(events).StopReason != schema.StopComplete {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if got := suite.lab.Lines("R1")[before:]; len(got) != 0 {
		t.Errorf("lines reached R1: %q", got)
	}
}

func TestDevicesFailApart(t *testing.T) {
	u := login(t, "admin")
	suite.model.On("mixed", call(commandsTool, `{"device_configs": [
		{"device_name": "R1", "commands": ["show clok", "show version"]},
		{"device_name": "NOPE", "commands": ["show version"]},
		{"device_name": "PC1", "commands": ["show ip"]}]}`), text("ok"))
	r := toolResult(t, u.say(newSession(), "mixed"))
	if r.Success || r.Total != 3 || r.Successful != 1 || r.Failed != 2 {
		t.Fatalf("%+v", r)
	}
	if r.Data[0].Outcome != "partial" || !strings.Contains(r.Data[0].Error, "Invalid input") || !strings.Contains(r.Data[0].Result, "show version") {
		t.Errorf("R1: %+v", r.Data[0])
	}
	if !strings.Contains(r.Data[1].Error, `no device "NOPE"`) || r.Data[2].Status != schema.ItemSuccess {
		t.Errorf("%+v %+v", r.Data[1], r.Data[2])
	}
}

func TestStepBudgetEndsVisibly(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	var steps []scriptmodel.Step
	for range 30 {
		steps = append(steps, call("gns3_topology_reader", `{}`))
	}
	suite.model.On("never ends", steps...)
	events := u.say(session, "never ends")
	done := last(events)
	if done.StopReason != schema.StopSteps || done.Usage.LLMCalls != 17 {
		t.Fatalf("%+v", done.Event)
	}
	if !strings.Contains(said(events), "17") {
		t.Errorf("the reason isn't visible: %q", said(events))
	}
	h := u.history(session)
	if final := h.Messages[len(h.Messages)-1]; final.Role != "assistant" || !strings.Contains(final.Content, "17") {
		t.Errorf("the history ends with %+v", final)
	}
}

func TestTwoHundredTurnsInARow(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("again", text("yes"))
	turns := 200
	if testing.Short() {
		turns = 20
	}
	for i := range turns {
		events := u.say(session, "again")
		if said(events) != "yes" || last(events).StopReason != schema.StopComplete {
			t.Fatalf("turn %d: %s", i, types(events))
		}
	}
}

func TestC22SecondMessageWhileOneRuns(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("slow", func(r *scriptmodel.Reply) { r.Say("wait"); r.Hold(release) })
	s := u.post(session, "slow")
	until(t, s, isType(schema.EventContent))
	_, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "slow", SessionID: session}, "")
	if schema.CodeOf(err) != schema.CodeTurnRunning {
		t.Errorf("want turn_running, got %v", err)
	}
	close(release)
	until(t, s, isType(schema.EventDone))
}
