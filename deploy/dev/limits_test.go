package dev_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/price"
	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"
)

// tokensOfCall are what the scripted model says that each call took, 100 of them read; a title is a call like any other.
const tokensOfCall = 150

// usageAt reads what the user has used at a stack.
func (u user) usageAt(at *dev.Stack, query string) schema.UsageReport {
	u.t.Helper()
	a := u.askAt(at, http.MethodGet, "/v3/copilot/usage"+query, "", u.bearer()...)
	var report schema.UsageReport
	if err := json.Unmarshal([]byte(a.text), &report); err != nil || a.status != http.StatusOK {
		u.t.Fatalf("usage: %d %s %v", a.status, a.text, err)
	}
	return report
}

// sessionUsage waits until all of a session's calls are booked, and gives its sums: a title is made beside.
func (u user) sessionUsage(at *dev.Stack, session string, calls int) schema.SessionUsage {
	u.t.Helper()
	var sum schema.SessionUsage
	await(u.t, "the session's calls are booked", func() bool {
		sessions := u.usageAt(at, "?session_id="+session).Sessions
		if len(sessions) == 1 {
			sum = sessions[0]
		}
		return sum.LLMCalls >= calls
	})
	if sum.LLMCalls != calls || sum.SessionID != session || sum.ProjectID != u.project {
		u.t.Errorf("booked: %+v, want %d calls", sum, calls)
	}
	return sum
}

// lookUps is an answer that looks so many times at the topology.
func lookUps(n int) scriptmodel.Step {
	return func(r *scriptmodel.Reply) {
		for range n {
			r.Call("gns3_topology_reader", "{}")
		}
	}
}

// checkStopped looks at the end of a turn that a limit has ended: why, in the stream and in the history, and that the session is whole.
func (u user) checkStopped(session string, events []client.Received, reason schema.StopReason, note string) {
	u.t.Helper()
	if done := last(events); done.StopReason != reason {
		u.t.Errorf("stopped for %q, want %q: %s", done.StopReason, reason, said(events))
	}
	if got := said(events); got != note {
		u.t.Errorf("said %q, want %q", got, note)
	}
	h := u.history(session)
	if final := h.Messages[len(h.Messages)-1]; final.Role != "assistant" || final.Content != note {
		u.t.Errorf("the history ends with %q, want %q", final.Content, note)
	}
	open := 0
	for _, m := range h.Messages {
		open += len(m.ToolCalls)
		if m.Role == "tool" {
			open--
		}
	}
	if open != 0 {
		u.t.Errorf("%d calls without a result", open)
	}
}

// TestATurnStopsAtItsLimits of tool calls and of tokens, and the next message goes on.
func TestATurnStopsAtItsLimits(t *testing.T) {
	s := startOwn(t, func(o *dev.Options) { o.Limits.Turn = schema.TurnLimits{ToolCalls: 5, Tokens: 3 * tokensOfCall} })
	const more = " Ask me to go on if you want more."
	for _, c := range []struct {
		name   string
		steps  []scriptmodel.Step
		reason schema.StopReason
		note   string
		run    int // tool calls that were run
		failed int // tool calls that weren't
	}{
		{"tool calls", []scriptmodel.Step{lookUps(5), text("never said")}, schema.StopToolCalls,
			"I stopped after 5 of 5 tool calls, which is what one message may take." + more, 5, 0},
		{"too many tool calls in a step", []scriptmodel.Step{lookUps(3), lookUps(3), text("never said")}, schema.StopToolCalls,
			"I stopped after 3 of 5 tool calls, which is what one message may take: the last step asked for 3 more, and none of them was run." + more, 3, 3},
		{"tokens", []scriptmodel.Step{lookUps(1), lookUps(1), lookUps(1), text("never said")}, schema.StopTokens,
			"I stopped after 450 of 450 tokens, which is what one message may take." + more, 3, 0},
		{"an answer in time", []scriptmodel.Step{lookUps(1), lookUps(1), text("that is all")}, schema.StopComplete, "that is all", 2, 0},
		{"all calls and an answer", []scriptmodel.Step{lookUps(4), text("that is all")}, schema.StopComplete, "that is all", 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, session := loginAt(t, s.URL(), "admin"), newSession()
			suite.model.On("limits: "+c.name, c.steps...)
			events := u.say(session, "limits: "+c.name)
			u.checkStopped(session, events, c.reason, c.note)
			run, failed := 0, 0
			for _, ev := range events {
				if ev.Type == schema.EventToolEnd {
					if strings.Contains(ev.ToolOutput, "one too many for one message") {
						failed++
					} else {
						run++
					}
				}
			}
			if run != c.run || failed != c.failed || last(events).Usage.ToolCalls != c.run {
				t.Errorf("%d calls run, %d not, counted %+v", run, failed, last(events).Usage)
			}
			suite.model.On("go on", text("on and on"))
			if next := u.say(session, "go on"); said(next) != "on and on" || last(next).StopReason != schema.StopComplete {
				t.Errorf("the next message: %s %q", types(next), said(next))
			}
		})
	}
}

// TestCostAndTheDay: a turn stops at its cost; a user's day ends turns between their steps, and then refuses them; another user goes on.
func TestCostAndTheDay(t *testing.T) {
	perMillion, err := price.PerMillion(1, 2) // a call costs 100 + 100 millionths
	if err != nil {
		t.Fatal(err)
	}
	s := startOwn(t, func(o *dev.Options) {
		o.Limits.Turn = schema.TurnLimits{CostMicroUSD: 600, DayTokens: 6 * tokensOfCall}
		o.Worker.Models[0].Price = &perMillion
	})
	u, session := loginAt(t, s.URL(), "student"), newSession()
	suite.model.On("for ever", lookUps(1), lookUps(1), lookUps(1), lookUps(1), lookUps(1))
	first := u.say(session, "for ever")
	u.checkStopped(session, first, schema.StopCost, "I stopped after $0.0006 of $0.0006, which is what one message may take. Ask me to go on if you want more.")
	if cost := last(first).Usage.CostUSD; cost == nil || *cost != 0.0006 {
		t.Errorf("done says %+v", last(first).Usage)
	}
	if sum := u.sessionUsage(s.Stack, session, 4); sum.TotalTokens != 4*tokensOfCall || sum.CostUSD != 0.0008 || !sum.CostKnown || sum.Turns != 1 {
		t.Errorf("booked: %+v", sum)
	}

	second := u.say(session, "for ever")
	u.checkStopped(session, second, schema.StopTokens,
		"I stopped because you have used 900 of 900 tokens today; it begins anew at 00:00 UTC. Ask me to go on then.")

	path, body := u.chatPath("/stream"), `{"message": "hello", "session_id": "`+session+`"}`
	a := u.askAt(s.Stack, http.MethodPost, path, body, u.bearer()...)
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	midnight := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	if off := time.Until(midnight) - time.Duration(wait)*time.Second; err != nil || off.Abs() > time.Minute {
		t.Errorf("Retry-After is %q, and midnight in %v", a.header.Get("Retry-After"), time.Until(midnight))
	}
	if a.status != http.StatusTooManyRequests || a.Code != schema.CodeUsageLimit || a.Hint == "" ||
		a.Message != "You have used 900 of 900 tokens today; it begins anew at 00:00 UTC." {
		t.Errorf("refused with %d %s", a.status, a.text)
	}
	if h := u.history(session); h.Messages[len(h.Messages)-1].Role != "assistant" {
		t.Errorf("the refused message is kept: %+v", h.Messages[len(h.Messages)-1])
	}
	report := u.usageAt(s.Stack, "")
	if report.Day.TotalTokens != 900 || report.Limits != (schema.UsageLimits{TurnCostUSD: 0.0006, UserDayTokens: 900}) || len(report.Days) != 1 {
		t.Errorf("usage says %+v", report)
	}

	other := loginAt(t, s.URL(), "admin")
	suite.model.On("and I", text("you may"))
	if events := other.say(newSession(), "and I"); said(events) != "you may" {
		t.Errorf("another user: %s %q", types(events), said(events))
	}
}

// TestARepeatedRequestIsNotRefused: what was begun before the day was used up can be read again.
func TestARepeatedRequestIsNotRefused(t *testing.T) {
	s := startOwn(t, func(o *dev.Options) { o.Limits.Turn = schema.TurnLimits{DayTokens: 1} })
	u, session, key := loginAt(t, s.URL(), "admin"), newSession(), newSession()
	suite.model.On("once", text("said once"))
	for range 2 {
		stream, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "once", SessionID: session}, key)
		if err != nil {
			t.Fatal(err)
		}
		if events := until(t, stream, isType(schema.EventDone)); said(events) != "said once" {
			t.Errorf("%s %q", types(events), said(events))
		}
		_ = stream.Close()
	}
	if _, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "once", SessionID: session}, newSession()); schema.CodeOf(err) != schema.CodeUsageLimit {
		t.Errorf("a new request: %v", err)
	}
}

// TestEveryCallIsBooked, however it ends: what a failed or aborted one is likely to have used is in done, the session list and the usage.
func TestEveryCallIsBooked(t *testing.T) {
	for _, c := range []struct {
		name      string
		steps     []scriptmodel.Step
		abort     bool
		calls     int // the title's is one more
		tokens    int // at least
		estimated bool
	}{
		{"an answer", []scriptmodel.Step{text("well")}, false, 1, tokensOfCall, false},
		{"two steps", []scriptmodel.Step{lookUps(1), text("well")}, false, 2, 2 * tokensOfCall, false},
		{"a refusal", []scriptmodel.Step{status(401, reason, kind, asJSON)}, false, 1, 0, false},
		{"a model that is down", []scriptmodel.Step{status(500, reason, kind, asJSON)}, false, 3, 0, false},
		{"cut off thrice", []scriptmodel.Step{func(r *scriptmodel.Reply) { r.Say("half of "); r.Cut() }}, false, 3, 3, true},
		{"aborted in mid-text", []scriptmodel.Step{func(r *scriptmodel.Reply) { r.Say("half of "); r.Hold(nil) }}, true, 1, 1, true},
		{"aborted behind a step", []scriptmodel.Step{lookUps(1), func(r *scriptmodel.Reply) { r.Say("half of "); r.Hold(nil) }}, true, 2, tokensOfCall + 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, session := login(t, "admin"), newSession()
			suite.model.On("booked: "+c.name, c.steps...)
			var events []client.Received
			if c.abort {
				events = abortAt(t, u, session, "booked: "+c.name, isType(schema.EventContent))
			} else {
				events = u.say(session, "booked: "+c.name)
			}
			sum := u.sessionUsage(suite.stack, session, c.calls+1)
			used := sum.TotalTokens - tokensOfCall
			if used < c.tokens || !c.estimated && used != c.tokens || sum.Estimated != c.estimated {
				t.Errorf("booked: %+v", sum)
			}
			if sum.CostKnown || sum.CostUSD != 0 {
				t.Errorf("the price of the model isn't known: %+v", sum)
			}
			done := last(events).Usage
			if done.TotalTokens != used || done.LLMCalls != c.calls || done.Estimated != c.estimated || done.CostUSD != nil {
				t.Errorf("done says %+v, booked are %d tokens", done, used)
			}
			if listed, _ := u.listed(session); listed.TotalTokens != used || listed.LLMCallsCount != c.calls {
				t.Errorf("the session list says %d tokens of %d calls", listed.TotalTokens, listed.LLMCallsCount)
			}
		})
	}
}

// TestUsageIsOnesOwn: nobody sees another user's, but for an administrator, who sees sums and no sessions.
func TestUsageIsOnesOwn(t *testing.T) {
	student, admin := login(t, "student"), login(t, "admin")
	session := newSession()
	suite.model.On("mine", text("yours"))
	student.say(session, "mine")
	own := student.sessionUsage(suite.stack, session, 2)
	if own.CostKnown || own.CostUSD != 0 || own.TotalTokens != 2*tokensOfCall || own.Title == "" {
		t.Errorf("%+v", own)
	}
	if seen := admin.usageAt(suite.stack, "?session_id="+session); len(seen.Sessions) != 0 || len(seen.Days) != 0 {
		t.Errorf("an administrator sees a student's session: %+v", seen)
	}
	theirs := student.usageAt(suite.stack, "")
	if seen := admin.usageAt(suite.stack, "?user_id="+theirs.UserID); seen.UserID != theirs.UserID || seen.Day != theirs.Day || len(seen.Sessions) != 0 {
		t.Errorf("an administrator sees %+v of %+v", seen, theirs)
	}
	me := admin.usageAt(suite.stack, "").UserID
	for _, query := range []string{"?user_id=" + me, "?user_id=" + nowhere} {
		a := student.ask(http.MethodGet, "/v3/copilot/usage"+query, "", student.bearer()...)
		if a.status != http.StatusForbidden || a.Code != schema.CodeForbidden || strings.Contains(a.text, me) {
			t.Errorf("%s is answered %d %s", query, a.status, a.text)
		}
	}
	for _, who := range []user{student, admin} {
		if seen := who.usageAt(suite.stack, "?session_id="+session+"&user_id="+strings.ToUpper(theirs.UserID)); seen.UserID != theirs.UserID || len(seen.Days) != 1 {
			t.Errorf("an id in other letters is another's: %+v", seen)
		}
	}
	for _, query := range []string{"?days=0", "?days=367", "?limit=0", "?session_id=a.b", "?project_id=x", "?user_id=nobody", "?user_id=%00"} {
		if a := student.ask(http.MethodGet, "/v3/copilot/usage"+query, "", student.bearer()...); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s is answered %d %s", query, a.status, a.text)
		}
	}
	// A deleted session is gone from the list, and still counts for its day.
	if status, body := student.raw(http.MethodDelete, student.chatPath("/sessions/"+session), "", true); status != http.StatusNoContent {
		t.Fatalf("delete: %d %s", status, body)
	}
	if after := student.usageAt(suite.stack, "?session_id="+session); len(after.Sessions) != 0 || after.Day.TotalTokens < theirs.Day.TotalTokens {
		t.Errorf("after the session is deleted: %+v", after)
	}
}

// TestAFailoverIsBooked: the calls of the model that was given up count beside those of the one that went on.
func TestAFailoverIsBooked(t *testing.T) {
	broken := scriptmodel.Start()
	defer broken.Close()
	broken.On("booked for both", func(r *scriptmodel.Reply) { r.Say("half of "); r.Cut() })
	s := startOwn(t, func(o *dev.Options) {
		first := o.Worker.Models[0]
		first.BaseURL = broken.BaseURL()
		o.Worker.Models = append([]stack.Model{first}, o.Worker.Models...)
	})
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	suite.model.On("booked for both", lookUps(1), text("from the second"))
	done := last(u.say(session, "booked for both")).Usage
	sum := u.sessionUsage(s.Stack, session, 6)
	if done.LLMCalls != 5 || done.TotalTokens != sum.TotalTokens-tokensOfCall || done.TotalTokens < 2*tokensOfCall+3 || !done.Estimated {
		t.Errorf("done says %+v, booked is %+v", done, sum)
	}
}

// TestAModelsOwnPrice: what a user's configuration says of its price counts.
func TestAModelsOwnPrice(t *testing.T) {
	s := startOwn(t, func(*dev.Options) {})
	u, session := loginAt(t, s.URL(), "student"), newSession()
	config := func(prices string) string {
		a := u.askAt(s.Stack, http.MethodPost, u.models(), `{"name": "mine", "model_type": "text", "provider": "custom", "base_url": "`+suite.model.BaseURL()+
			`", "model": "scripted", "context_limit": 128, `+prices+`}`, u.bearer()...)
		var made schema.ModelConfig
		if err := json.Unmarshal([]byte(a.text), &made); err != nil || a.status != http.StatusCreated {
			t.Fatalf("%d %s %v", a.status, a.text, err)
		}
		return made.ConfigID
	}
	suite.model.On("at my price", text("as you say"))
	say := func(id string) client.Received {
		stream, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "at my price", SessionID: session, TurnOptions: schema.TurnOptions{ModelConfigID: id}}, "")
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		return last(until(t, stream, isType(schema.EventDone)))
	}
	if done := say(config(`"input_price": 1, "output_price": 2`)); done.Usage.CostUSD == nil || *done.Usage.CostUSD != 0.0002 {
		t.Errorf("done says %+v", done.Usage)
	}
	if sum := u.sessionUsage(s.Stack, session, 2); sum.CostUSD != 0.0004 || !sum.CostKnown {
		t.Errorf("booked: %+v", sum)
	}
}
