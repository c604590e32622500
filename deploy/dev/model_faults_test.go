package dev_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// modelFault is a way in which a model can fail, and what becomes of a turn whose model always fails so.
type modelFault struct {
	name string
	step scriptmodel.Step
	code schema.Code
	// tries is how often the model is asked in vain.
	tries int
	// says is a part of the message, hint one of what the user can do.
	says, hint string
	// kept is what the history keeps of the answer.
	kept string
}

func status(code int, body string, headers ...string) scriptmodel.Step {
	return func(r *scriptmodel.Reply) { r.Whole(code, body, headers...) }
}

const (
	page    = "<!DOCTYPE html><html><body><h1>It works!</h1></body></html>"
	reason  = `{"error":{"message":"not for you","type":"x","code":"y"}}`
	asHTML  = "text/html; charset=utf-8"
	kind    = "Content-Type"
	asJSON  = "application/json"
	waitFor = "Retry-After"
)

func modelFaults() []modelFault {
	return []modelFault{
		{"401", status(401, reason, kind, asJSON), schema.CodeModelAuth, 1, "refuses the API key (HTTP 401): not for you", "API key", ""},
		{"403", status(403, reason, kind, asJSON), schema.CodeModelAuth, 1, "refuses the API key (HTTP 403)", "API key", ""},
		{"404", status(404, reason, kind, asJSON), schema.CodeModelRefused, 1, "refuses the request (HTTP 404): not for you", "base URL", ""},
		{"404 page", status(404, page, kind, asHTML), schema.CodeModelRefused, 1, "(a web page)", "base URL", ""},
		{"too long", status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`, kind, asJSON),
			schema.CodeModelContext, 2, "conversation is too long", "new session", ""},
		{"429", status(429, reason, kind, asJSON), schema.CodeModelBusy, 3, "busy or limits the rate (HTTP 429)", "again", ""},
		{"429 for a second", status(429, reason, kind, asJSON, waitFor, "1"), schema.CodeModelBusy, 3, "busy or limits the rate", "1s", ""},
		{"A26 429 for an hour", status(429, reason, kind, asJSON, waitFor, "3600"), schema.CodeModelBusy, 1, "busy or limits the rate", "1h", ""},
		{"500", status(500, reason, kind, asJSON), schema.CodeModelUnreachable, 3, "reports an error (HTTP 500): not for you", "again", ""},
		{"502 page", status(502, page, kind, asHTML), schema.CodeModelUnreachable, 3, "(a web page)", "again", ""},
		{"A31 a page", status(200, page, kind, asHTML), schema.CodeModelBroken, 1, "a web page", "base URL", ""},
		{"an error as an answer", status(200, `{"error":{"message":"boom","type":"server_error"}}`, kind, asJSON),
			schema.CodeModelUnreachable, 3, "boom", "again", ""},
		{"cut in mid-text", func(r *scriptmodel.Reply) { r.Say("half of "); r.Cut() },
			schema.CodeModelUnreachable, 3, "broke in the middle", "again", "half of "},
		{"cut in mid-call", func(r *scriptmodel.Reply) { r.Say("I look"); r.Call(commandsTool, `{"device_configs": [`); r.Cut() },
			schema.CodeModelUnreachable, 3, "broke in the middle", "again", "I look"},
		{"an error in mid-text", func(r *scriptmodel.Reply) { r.Say("half of "); r.Event(`{"error":{"message":"boom","code":502}}`) },
			schema.CodeModelUnreachable, 3, "reports an error (in its answer): boom", "again", "half of "},
		{"a refusal in mid-text", func(r *scriptmodel.Reply) { r.Say("half of "); r.Event(`{"error":{"message":"no","code":401}}`) },
			schema.CodeModelAuth, 1, "refuses the API key (in its answer): no", "API key", "half of "},
		{"garbage in mid-text", func(r *scriptmodel.Reply) { r.Say("half of "); r.Event(`{"choices": [`) },
			schema.CodeModelBroken, 1, "can't be read", "", "half of "},
	}
}

// TestModelsThatFail lets the model fail always, at a turn's first step and behind a tool call: the user is told what to do, what was said is
// kept, no call stays open, and the session goes on.
func TestModelsThatFail(t *testing.T) {
	checkFaults(t, login(t, "admin"), suite.model, modelFaults())
}

// checkFaults lets all of the faults happen side by side, each in its own session: retries have pauses.
func checkFaults(t *testing.T, u user, model *scriptmodel.Server, faults []modelFault) {
	model.On("after that", text("fine"))
	cases := make([]*faultCase, len(faults))
	for i, f := range faults {
		cases[i] = &faultCase{modelFault: f, user: u, session: newSession()}
		cases[i].script(model)
	}
	for _, step := range []struct {
		message func(*faultCase) string
		check   func(*faultCase, []client.Received)
	}{
		{(*faultCase).first, (*faultCase).checkFirst},
		{(*faultCase).second, (*faultCase).checkSecond},
		{func(*faultCase) string { return "after that" }, (*faultCase).checkAfter},
	} {
		streams := make([]*client.Stream, len(cases))
		for i, c := range cases {
			streams[i] = u.post(c.session, step.message(c))
		}
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				c.t = t
				step.check(c, until(t, streams[i], isType(schema.EventDone)))
			})
		}
	}
}

// faultCase is a session whose model fails.
type faultCase struct {
	modelFault
	user
	session string
	asked   atomic.Int64 // since it was looked at
}

func (c *faultCase) first() string  { return "fail at once: " + c.name }
func (c *faultCase) second() string { return "fail behind a tool: " + c.name }

func (c *faultCase) script(model *scriptmodel.Server) {
	fail := func(r *scriptmodel.Reply) { c.asked.Add(1); c.step(r) }
	model.On(c.first(), fail)
	model.On(c.second(), call("gns3_topology_reader", "{}"), fail)
}

// conversation is what the history has when a turn has failed behind these lines.
func (c *faultCase) conversation(lines ...string) []string {
	if c.kept != "" {
		lines = append(lines, "assistant: "+c.kept)
	}
	return lines
}

func (c *faultCase) checkFirst(events []client.Received) {
	c.checkEnd(c.t, events, c.asked.Swap(0))
	checkConversation(c.t, c.checkBooks(c.session, 1, c.tries), c.conversation("user: "+c.first())...)
}

func (c *faultCase) checkSecond(events []client.Received) {
	c.checkEnd(c.t, events, c.asked.Swap(0))
	lines := append(c.conversation("user: "+c.first()), "user: "+c.second(), "assistant: ", "tool")
	checkConversation(c.t, c.checkBooks(c.session, 2, c.tries+1+c.tries), c.conversation(lines...)...)
}

func (c *faultCase) checkAfter(events []client.Received) {
	if said(events) != "fine" || last(events).StopReason != schema.StopComplete {
		c.t.Errorf("the session isn't usable: %s", types(events))
	}
	c.checkBooks(c.session, 3, c.tries+1+c.tries+1)
}

// checkEnd looks at the end of a turn's events.
func (f modelFault) checkEnd(t *testing.T, events []client.Received, asked int64) {
	t.Helper()
	if asked != int64(f.tries) {
		t.Errorf("asked %d times, want %d", asked, f.tries)
	}
	if !strings.HasSuffix(types(events), "error done ") || last(events).StopReason != schema.StopError {
		t.Fatalf("%s %+v", types(events), last(events).Event)
	}
	for _, ev := range events {
		if ev.Type != schema.EventError {
			continue
		}
		if ev.Code != f.code || !strings.Contains(ev.Error, f.says) || !strings.Contains(ev.Hint, f.hint) {
			t.Errorf("code %s, message %q, hint %q", ev.Code, ev.Error, ev.Hint)
		}
		checkWords(t, f.name, ev.Error, ev.Hint)
		if strings.Contains(ev.Error+ev.Hint, "<") {
			t.Errorf("a piece of a web page: %q", ev.Error)
		}
	}
}

// checkBooks looks that each call of a session's history has just one result, and that its counters are those of so many turns and model
// calls.
func (u user) checkBooks(session string, turns, llmCalls int) schema.ConversationHistory {
	u.t.Helper()
	h := u.history(session)
	users, tools, answered := 0, 0, 0
	open := map[string]bool{}
	counted := true // the assistant once in a turn
	for _, m := range h.Messages {
		switch m.Role {
		case "user":
			users, counted = users+1, false
		case "assistant":
			if !counted {
				answered, counted = answered+1, true
			}
		case "tool":
			tools++
			if !open[*m.ToolCallID] {
				u.t.Errorf("the result %s has no open call", *m.ToolCallID)
			}
			delete(open, *m.ToolCallID)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 || users != turns {
		u.t.Errorf("%d turns, calls without a result: %v", users, open)
	}
	sessions, err := u.Sessions(u.t.Context(), u.project)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, s := range sessions {
		if s.ThreadID == session && (s.MessageCount != users+answered+tools || s.LLMCallsCount != llmCalls || h.LLMCalls != llmCalls) {
			u.t.Errorf("counters: %d messages, want %d; %d model calls, want %d", s.MessageCount, users+answered+tools, s.LLMCallsCount, llmCalls)
		}
	}
	return h
}

// checkConversation compares the history with "role: text", or "tool" for any result.
func checkConversation(t *testing.T, h schema.ConversationHistory, want ...string) {
	t.Helper()
	var got []string
	for _, m := range h.Messages {
		line := m.Role + ": " + m.Content
		if m.Role == "tool" {
			line = m.Role
		}
		got = append(got, line)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the history is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestModelsThatRecover fails once and then answers: the turn is as good as any other.
func TestModelsThatRecover(t *testing.T) {
	u := login(t, "admin")
	cases := map[string]struct {
		fail   scriptmodel.Step
		events string
	}{
		"429":                 {status(429, reason, kind, asJSON), "content done "},
		"429 for a second":    {status(429, reason, kind, asJSON, waitFor, "1"), "waiting content done "},
		"500":                 {status(500, reason, kind, asJSON), "content done "},
		"503 page":            {status(503, page, kind, asHTML), "content done "},
		"cut in mid-call":     {func(r *scriptmodel.Reply) { r.Call(commandsTool, `{"device_configs": [`); r.Cut() }, "tool_call content retry content done "},
		"an error in mid-way": {func(r *scriptmodel.Reply) { r.Say("half "); r.Event(`{"error":{"message":"boom"}}`) }, "content retry content done "},
	}
	sessions, streams := map[string]string{}, map[string]*client.Stream{}
	for name, c := range cases {
		asked := new(atomic.Int64)
		suite.model.On("recover from "+name, func(r *scriptmodel.Reply) {
			if asked.Add(1) == 1 {
				c.fail(r)
			} else {
				r.Say("all of it")
			}
		})
		sessions[name] = newSession()
		streams[name] = u.post(sessions[name], "recover from "+name)
	}
	for name, c := range cases {
		events := until(t, streams[name], isType(schema.EventDone))
		if got := types(events); got != c.events || last(events).StopReason != schema.StopComplete {
			t.Errorf("%s: %s %+v", name, got, last(events).Event)
		}
		checkConversation(t, u.checkBooks(sessions[name], 1, 2), "user: recover from "+name, "assistant: all of it")
	}
}

// TestA31AnAnswerInOnePiece is what a server sends that doesn't stream.
func TestA31AnAnswerInOnePiece(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("in one piece", status(200, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"whole"},
		"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`, kind, asJSON))
	events := u.say(session, "in one piece")
	if said(events) != "whole" || last(events).StopReason != schema.StopComplete || last(events).Usage.TotalTokens != 10 {
		t.Errorf("%s %q %+v", types(events), said(events), last(events).Usage)
	}
	checkConversation(t, u.checkBooks(session, 1, 1), "user: in one piece", "assistant: whole")
}

func TestAnEmptyAnswerIsNamed(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("say nothing", func(*scriptmodel.Reply) {})
	events := u.say(session, "say nothing")
	if !strings.Contains(said(events), "empty answer") || last(events).StopReason != schema.StopComplete {
		t.Errorf("%s %q", types(events), said(events))
	}
	u.checkBooks(session, 1, 1)
	u.checkUsable(session)
}

// TestA26AbortWhileTheModelIsBusy aborts in the pause that a provider has asked for.
func TestA26AbortWhileTheModelIsBusy(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("busy", status(429, reason, kind, asJSON, waitFor, "50"))
	events := abortAt(t, u, session, "busy", isType(schema.EventWaiting))
	if waiting := events[0]; !strings.Contains(waiting.Reason, "50s") {
		t.Errorf("%+v", waiting.Event)
	}
	checkAborted(t, u, session, events)
}

// TestModelsThatFallSilent have an idle limit of a second. The limit of the product is two minutes.
func TestModelsThatFallSilent(t *testing.T) {
	model := scriptmodel.Start()
	t.Cleanup(func() { model.Close() }) // the one that is there by then
	o := options(t.TempDir())
	o.Worker.Models[0].BaseURL, o.Worker.ModelIdle = model.BaseURL(), time.Second
	s := startWith(t, o)
	u := loginAt(t, s.URL(), "admin")
	checkFaults(t, u, model, []modelFault{
		{"not a byte", func(r *scriptmodel.Reply) { r.Silence() }, schema.CodeModelUnreachable, 3, "sent nothing for 1s", "Try again", ""},
		{"silent behind the header", func(r *scriptmodel.Reply) { r.Hold(nil) }, schema.CodeModelUnreachable, 3, "sent nothing for 1s", "Try again", ""},
		{"silent in mid-text", func(r *scriptmodel.Reply) { r.Say("half of "); r.Hold(nil) },
			schema.CodeModelUnreachable, 3, "sent nothing for 1s", "Try again", "half of "},
	})
	t.Run("gone", func(t *testing.T) {
		session, address := newSession(), model.Address()
		model.Close()
		u.t = t
		events := u.say(session, "is anybody there")
		gone := modelFault{name: "gone", code: schema.CodeModelUnreachable, says: "can't be reached: the connection is refused", hint: "server runs"}
		gone.checkEnd(t, events, 0)
		u.checkBooks(session, 1, 3)
		var err error
		if model, err = scriptmodel.StartAt(address); err != nil {
			t.Fatal(err)
		}
		model.On("and now", text("here"))
		if next := u.say(session, "and now"); said(next) != "here" {
			t.Errorf("the session isn't usable: %s", types(next))
		}
		checkConversation(t, u.checkBooks(session, 2, 4), "user: is anybody there", "user: and now", "assistant: here")
	})
}
