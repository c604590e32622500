package dev_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"
)

// twoModels starts a stack with two models and logs in.
func twoModels(t *testing.T) (u user, first, second *scriptmodel.Server) {
	t.Helper()
	first, second = scriptmodel.Start(), scriptmodel.Start()
	t.Cleanup(first.Close)
	t.Cleanup(second.Close)
	s := startOwn(t, func(o *dev.Options) {
		o.Worker.Models = []stack.Model{
			{ID: schema.ServerModels, Name: "the first", BaseURL: first.BaseURL(), Model: "one", ContextLimit: 128},
			{ID: schema.ServerModels, Name: "the second", BaseURL: second.BaseURL(), Model: "two", ContextLimit: 128},
		}
	})
	return loginAt(t, s.URL(), "admin"), first, second
}

// failovers are the events that tell of a model which goes on for another.
func failovers(events []client.Received) []client.Received {
	return slices.DeleteFunc(slices.Clone(events), func(ev client.Received) bool { return ev.Type != schema.EventFailover })
}

// TestFailover lets the first of two models fail in the ways that another provider can cure: the second answers, readers are told, and the
// rest of the turn is the second's. The next turn begins with the first again.
func TestFailover(t *testing.T) {
	u, first, second := twoModels(t)
	for _, f := range []modelFault{
		{name: "revoked key", step: status(401, reason, kind, asJSON), code: schema.CodeModelAuth, tries: 1},
		{name: "busy for an hour", step: status(429, reason, kind, asJSON, waitFor, "3600"), code: schema.CodeModelBusy, tries: 1},
		{name: "busy for 50 s", step: status(429, reason, kind, asJSON, waitFor, "50"), code: schema.CodeModelBusy, tries: 1},
		{name: "down", step: status(500, reason, kind, asJSON), code: schema.CodeModelUnreachable, tries: 3},
		{name: "a page", step: status(200, page, kind, asHTML), code: schema.CodeModelBroken, tries: 1},
		{name: "cut in mid-text", step: func(r *scriptmodel.Reply) { r.Say("half of "); r.Cut() }, code: schema.CodeModelUnreachable, tries: 3},
	} {
		t.Run(f.name, func(t *testing.T) {
			u.t = t
			session := newSession()
			asked := 0
			first.On(f.name, func(r *scriptmodel.Reply) { asked++; f.step(r) })
			second.On(f.name, call("gns3_topology_reader", "{}"), text("from the second"))
			events := u.say(session, f.name)
			if !strings.HasSuffix(said(events), "from the second") || last(events).StopReason != schema.StopComplete {
				t.Fatalf("%s %q", types(events), said(events))
			}
			if asked != f.tries {
				t.Errorf("the first was asked %d times, want %d", asked, f.tries)
			}
			told := failovers(events)
			if len(told) != 1 || told[0].Model != "the second" || told[0].Code != f.code || told[0].Reason == "" {
				t.Errorf("told %+v", told)
			}
			if strings.Contains(types(events), string(schema.EventWaiting)) {
				t.Errorf("told to wait: %s", types(events))
			}
			checkConversation(t, u.history(session), "user: "+f.name, "assistant: ", "tool", "assistant: from the second")
			first.On("and now", text("back again"))
			if events := u.say(session, "and now"); said(events) != "back again" || len(failovers(events)) != 0 {
				t.Errorf("the next turn: %s %q", types(events), said(events))
			}
		})
	}
}

// TestFailoverEnds: what another provider can't cure stays with the first, and the last one's failure is the turn's.
func TestFailoverEnds(t *testing.T) {
	u, first, second := twoModels(t)
	t.Run("a refused request", func(t *testing.T) {
		u.t = t
		first.On("refused", status(400, reason, kind, asJSON))
		events := u.say(newSession(), "refused")
		if errorOf(events).Code != schema.CodeModelRefused || len(failovers(events)) != 0 {
			t.Errorf("%s %+v", types(events), errorOf(events))
		}
	})
	t.Run("both fail", func(t *testing.T) {
		u.t = t
		first.On("both", status(401, reason, kind, asJSON))
		second.On("both", status(404, reason, kind, asJSON))
		events := u.say(newSession(), "both")
		if errorOf(events).Code != schema.CodeModelRefused || len(failovers(events)) != 1 {
			t.Errorf("%s %+v", types(events), errorOf(events))
		}
	})
	t.Run("aborted while the second answers", func(t *testing.T) {
		u.t = t
		session := newSession()
		first.On("hold on", status(401, reason, kind, asJSON))
		second.On("hold on", holds)
		events := abortAt(t, u, session, "hold on", isType(schema.EventContent))
		if last(events).StopReason != schema.StopAborted || !strings.HasSuffix(types(events), "abort done ") {
			t.Errorf("%s %+v", types(events), last(events).Event)
		}
	})
}

// TestFailoverPastADeletedModel: a configuration that is deleted while it stands in reserve is passed over, and what people are told is why
// the model before it was given up.
func TestFailoverPastADeletedModel(t *testing.T) {
	u := login(t, "student")
	models := u.models()
	defer u.clearModels(suite.stack, models)
	for _, c := range []struct {
		behind string // the id of the model behind the deleted one
		want   string
	}{
		{`, "server"`, "failover content done "},
		{"", "error done "},
	} {
		reserve := u.model(models, modelBody("reserve"))
		first := scriptmodel.Start()
		defer first.Close()
		message := "past a deleted model" + c.behind
		first.On(message, func(r *scriptmodel.Reply) {
			if status, text := u.raw(http.MethodDelete, models+"/"+reserve.ConfigID, "", true); status != http.StatusNoContent {
				t.Errorf("delete: %d %s", status, text)
			}
			r.Fail(http.StatusUnauthorized, reason)
		})
		suite.model.On(message, text("from the server's"))
		body := modelBody("first", fmt.Sprintf(`"failover": [%q%s]`, reserve.ConfigID, c.behind))
		made := u.model(models, strings.Replace(body, suite.model.BaseURL(), first.BaseURL(), 1))
		events := u.request(schema.ChatRequest{Message: message, SessionID: newSession(), TurnOptions: schema.TurnOptions{ModelConfigID: made.ConfigID}})
		if got := types(events); got != c.want {
			t.Errorf("%s: %s", message, got)
		}
		if told := events[0]; told.Code != schema.CodeModelAuth || !strings.Contains(told.Reason+told.Error, "refuses the API key") {
			t.Errorf("told %+v", told.Event)
		}
	}
}

// TestContextIsTrimmedHarderOnce: a provider that finds the conversation too long is asked once more with less of it.
func TestContextIsTrimmedHarderOnce(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	tooLong := status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`, kind, asJSON)
	asked := 0
	suite.model.On("a long story", func(r *scriptmodel.Reply) {
		if asked++; asked == 1 {
			tooLong(r)
			return
		}
		r.Say("short")
	})
	if events := u.say(session, "a long story"); said(events) != "short" || asked != 2 {
		t.Errorf("asked %d times: %s", asked, types(events))
	}
}

// errorOf is a turn's error event.
func errorOf(events []client.Received) schema.Event {
	for _, ev := range events {
		if ev.Type == schema.EventError {
			return ev.Event
		}
	}
	return schema.Event{}
}
