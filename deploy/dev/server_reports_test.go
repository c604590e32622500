package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// The tests of this file are named after published reports of what went wrong beside a GNS3 server, F and a number, and after defects of
// another assistant.

// TestF15DroppedTurnIsBooked: a turn whose client leaves at its first word, and that nobody follows again, has its counts, its tokens and its
// title.
func TestF15DroppedTurnIsBooked(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("dropped "+session, func(r *scriptmodel.Reply) {
		r.Say("one ")
		r.Hold(release)
		r.Call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}`)
	}, text("two"))
	s := u.post(session, "dropped "+session)
	until(t, s, isType(schema.EventContent))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	close(release)
	var seen schema.ChatSession
	eventually(t, "the turn is booked", func() bool {
		sessions, err := u.Sessions(t.Context(), u.project)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			if s.ThreadID == session {
				seen = s
			}
		}
		return seen.LLMCallsCount > 0
	})
	if seen.Title != "A scripted title" || seen.MessageCount != 3 || seen.LLMCallsCount != 2 || seen.TotalTokens != 300 || seen.InputTokens != 200 {
		t.Errorf("%+v", seen)
	}
}

// TestF15AbortBesideTheStart sends an abort in the very moment of a start, before it, within it and behind it. It ends its turn or does
// nothing, and never the next one.
func TestF15AbortBesideTheStart(t *testing.T) {
	u := login(t, "admin")
	suite.model.On("for ever", func(r *scriptmodel.Reply) { r.Say("begun"); r.Hold(nil) })
	early := 0
	for i := range 24 {
		session := newSession()
		if err := u.Abort(t.Context(), u.project, session); err != nil {
			t.Fatal(err)
		}
		u.checkUsable(session) // an abort of nothing leaves nothing behind
		var starting sync.WaitGroup
		starting.Go(func() {
			<-time.After(time.Duration(i) * time.Millisecond) // a little later each time
			if err := u.Abort(t.Context(), u.project, session); err != nil {
				t.Error(err)
			}
		})
		s := u.post(session, "for ever")
		starting.Wait()
		first, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		events := []client.Received{first}
		if first.Type == schema.EventContent || first.Type == schema.EventTitle {
			if err := u.Abort(t.Context(), u.project, session); err != nil {
				t.Fatal(err)
			}
		} else {
			early++
		}
		if first.Type != schema.EventDone {
			events = append(events, until(t, s, isType(schema.EventDone))...)
		}
		if done := last(events); done.StopReason != schema.StopAborted {
			t.Fatalf("%d: %s %+v", i, types(events), done.Event)
		}
		u.checkUsable(session)
	}
	t.Logf("%d of 24 ended before they said anything", early)
}

// piece is a part of an answer in which two calls and text come mixed.
func piece(index int, id, name, arguments string) string {
	return string(schema.Text(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": "scripted", "choices": []any{map[string]any{"index": 0,
		"delta": map[string]any{"tool_calls": []any{map[string]any{"index": index, "id": id, "type": "function",
			"function": map[string]any{"name": name, "arguments": arguments}}}}}}}))
}

// TestF16InterleavedCalls: two calls whose pieces alternate, and text between them, come out apart: each call's arguments grow, and are complete
// once; no text is lost.
func TestF16InterleavedCalls(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	want := map[string]string{
		commandsTool:           `{"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}`,
		"gns3_topology_reader": `{"project_id": ""}`,
	}
	suite.model.On("interleaved", func(r *scriptmodel.Reply) {
		a, b := want[commandsTool], want["gns3_topology_reader"]
		r.Say("I look, ")
		r.Event(piece(0, "a", commandsTool, a[:9]))
		r.Event(piece(1, "b", "gns3_topology_reader", b[:3]))
		r.Say("both ")
		r.Event(piece(0, "", "", a[9:30]))
		r.Event(piece(1, "", "", b[3:]))
		r.Say("at once")
		r.Event(piece(0, "", "", a[30:]))
		r.Finish("tool_calls")
	}, text(": fine"))
	events := u.say(session, "interleaved")
	seen, complete, names := map[string]string{}, map[string]int{}, map[string]string{}
	for _, ev := range events {
		if ev.Type != schema.EventToolCall {
			continue
		}
		f := ev.ToolCall.Function
		arguments := f.Arguments
		if !strings.HasPrefix(arguments, seen[ev.ToolCall.ID]) || complete[ev.ToolCall.ID] > 0 {
			t.Errorf("%s: %q behind %q", f.Name, arguments, seen[ev.ToolCall.ID])
		}
		seen[ev.ToolCall.ID], names[ev.ToolCall.ID] = arguments, f.Name
		if f.Complete {
			complete[ev.ToolCall.ID]++
		}
	}
	if len(seen) != 2 || len(complete) != 2 || said(events) != "I look, both at once: fine" {
		t.Fatalf("%v, complete %v, %q", seen, complete, said(events))
	}
	for id, arguments := range seen {
		if arguments != want[names[id]] {
			t.Errorf("%s: %s", names[id], arguments)
		}
	}
	for id, r := range results(t, events) {
		if !r.Success || names[id] != r.Metadata.ToolName {
			t.Errorf("%s: %+v", names[id], r)
		}
	}
	if m := u.history(session).Messages[1]; m.Content != "I look, both at once" || len(m.ToolCalls) != 2 {
		t.Errorf("%+v", m)
	}
}

// TestF17TheSameJSONInBoth: a tool's result is the same JSON in the stream and in the history, and its characters are themselves in both.
func TestF17TheSameJSONInBoth(t *testing.T) {
	const odd = "Zürich 核心 <b>&amp;✓ 'single' True None"
	u, session := login(t, "admin"), newSession()
	if err := suite.lab.SetFault("R2", simlab.Fault{Noise: "\r\n" + odd + "\r\n"}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := suite.lab.SetFault("R2", simlab.Fault{}); err != nil {
			t.Error(err)
		}
	}()
	message := "show it " + session
	suite.model.On(message, call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["show clock"]}]}`), text("shown"))
	stream := u.ask(http.MethodPost, chatPath(u.project, "/stream"), ask(session, message), u.bearer()...).text
	history := u.ask(http.MethodGet, chatPath(u.project, "/sessions/"+session+"/history"), "", u.bearer()...).text
	for where, text := range map[string]string{"stream": stream, "history": history} {
		if !strings.Contains(text, odd) {
			t.Errorf("the %s escapes it: %s", where, text)
		}
	}
	var kept schema.ConversationHistory
	if err := json.Unmarshal([]byte(history), &kept); err != nil {
		t.Fatal(err)
	}
	output := ""
	for _, ev := range u.collect(session, "") {
		output += ev.ToolOutput
	}
	if output == "" || kept.Messages[2].Content != output || !json.Valid([]byte(output)) {
		t.Errorf("the stream has\n%s\nand the history\n%s", output, kept.Messages[2].Content)
	}
}

// TestF18EndedBehindItsCalls ends a turn from outside in its second round, between the model's calls and their results. Each call has its own
// result afterwards, also beside those of the round before, and the model takes the conversation.
func TestF18EndedBehindItsCalls(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	long := `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 20"]}]}`
	suite.model.On("two rounds", calls("gns3_topology_reader", `{}`), calls(commandsTool, long, commandsTool, long))
	s := u.post(session, "two rounds")
	until(t, s, func(ev client.Received) bool {
		return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
	})
	terminate(t, session)
	until(t, s, isType(schema.EventDone))
	suite.model.On("and now", text("fine"))
	if next := u.say(session, "and now"); said(next) != "fine" {
		t.Fatalf("%s", types(next))
	}
	open := map[string]int{}
	for _, m := range u.history(session).Messages {
		for _, c := range m.ToolCalls {
			open[c.ID]++
		}
		if m.ToolCallID != nil {
			open[*m.ToolCallID]--
		}
	}
	if len(open) != 3 {
		t.Fatalf("%v", open)
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("call %s lacks %d results", id, n)
		}
	}
}

// TestTokensOfACustomModel: a server of one's own counts tokens only for who asks for it.
func TestTokensOfACustomModel(t *testing.T) {
	u, models := strictModels(t, []string{"custom"}, scriptmodel.Strict{})
	models[0].On("count", text("counted"))
	if done := last(u.say(newSession(), "count")); done.Usage.TotalTokens != 150 {
		t.Errorf("%+v", done.Usage)
	}
}

// TestNoModeInTheConfiguration: a model configuration may say nothing of the mode, in both ways.
func TestNoModeInTheConfiguration(t *testing.T) {
	u := login(t, "admin")
	defer u.clearModels(suite.stack, u.models())
	for _, none := range []string{`null`, `""`} {
		u.model(u.models(), modelBody("no mode "+newSession(), `"is_default": true`, `"copilot_mode": `+none))
		suite.model.On("which mode", call("stop_gns3_node", `{"node_names": ["nobody"]}`), text("mine"))
		events := u.say(newSession(), "which mode")
		if r := toolResult(t, events); said(events) != "mine" || !strings.Contains(r.Error, "nobody") { // and not that the mode lacks it
			t.Errorf("%s: %s %+v", none, types(events), r)
		}
	}
}

// behind logs in at a stack that reaches the suite's lab by way of intercept, which may answer a request itself, and makes a new, empty project.
func behind(t *testing.T, intercept func(http.ResponseWriter, *http.Request) (answered bool)) user {
	t.Helper()
	target, err := url.Parse(suite.lab.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !intercept(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	o := options(t.TempDir())
	o.GNS3URL = front.URL
	stack := startWith(t, o)
	u := loginAt(t, stack.URL(), "admin")
	var p schema.Project
	u.jsonAt(stack, http.MethodPost, "/v3/projects", fmt.Sprintf(`{"name": %q}`, "Behind "+newSession()), &p)
	u.project = p.ID
	return u
}

// TestStartThatStartsNothing: a GNS3 server says yes to the start of a node that stays as it was, and the result says that it did.
func TestStartThatStartsNothing(t *testing.T) {
	u := behind(t, func(w http.ResponseWriter, r *http.Request) bool {
		start := strings.HasSuffix(r.URL.Path, "/start")
		if start {
			w.WriteHeader(http.StatusNoContent)
		}
		return start
	})
	suite.model.On("start nothing", calls("create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "A"}]}`, "start_gns3_node", `{"node_ids": ["A"]}`), text("tried"))
	got := inOrder(t, u.say(newSession(), "start nothing"))
	if outcomes(got[0]) != "A success" || outcomes(got[1]) != "A failed" || !strings.Contains(got[1].Data[0].Error, "stopped") {
		t.Errorf("%+v", got)
	}
}

// TestNodesOfOneName: of two nodes that one call gives the same name, one is made. One whose name is taken in the very moment is made under
// another, and that isn't told as a success.
func TestNodesOfOneName(t *testing.T) {
	creating, created := make(chan string), make(chan struct{})
	u := behind(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/templates/") {
			select {
			case creating <- r.URL.Path:
				<-created
			case <-t.Context().Done(): // one more than expected
			}
		}
		return false
	})
	session, other := newSession(), login(t, "admin")
	other.project = u.project
	suite.model.On("twins", calls("create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "PC9"}, {"template_id": "VPCS", "name": "PC9"}]}`), text("made"))
	s := u.post(session, "twins")
	template := <-creating
	created <- struct{}{}
	r := inOrder(t, until(t, s, isType(schema.EventDone)))[0]
	if outcomes(r) != "PC9 success, PC9 (2) failed" || !strings.Contains(r.Data[1].Error, "not created") {
		t.Errorf("%+v", r)
	}

	suite.model.On("late", calls("create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "PC8"}]}`), text("made"))
	s = u.post(session, "late")
	<-creating
	var rival labNode
	other.rest(http.MethodPost, template, `{"x": 0, "y": 0}`, &rival)
	other.rest(http.MethodPut, "/v3/projects/"+u.project+"/nodes/"+rival.ID, `{"name": "PC8"}`, nil)
	created <- struct{}{}
	r = inOrder(t, until(t, s, isType(schema.EventDone)))[0]
	it, nodes := r.Data[0], other.nodes()
	if it.Status != schema.ItemFailed || it.Outcome != schema.OutcomePartial || !strings.Contains(it.Error, "PC8") || it.Name == "PC8" || nodes[it.Name].ID != it.ID {
		t.Errorf("%+v, and there is %+v", it, nodes)
	}
}

// TestF28WrongServer: with a GNS3 server that isn't there the health check and the chat say the same, and which one they miss.
func TestF28WrongServer(t *testing.T) {
	const nowhere = "http://127.0.0.1:1"
	o := options(t.TempDir())
	o.GNS3URL = nowhere
	s := startWith(t, o)
	u := user{Client: client.New(s.URL(), nil), t: t, project: "00000000-0000-4000-8000-000000000000"}
	ready := u.askAt(s, http.MethodGet, "/readyz", "")
	chat := u.askAt(s, http.MethodPost, chatPath(u.project, "/stream"), ask(newSession(), "hello"), "Authorization", "Bearer a.b.c")
	for what, a := range map[string]answer{"the health check": ready, "the chat": chat} {
		checkRefused(t, what, a, http.StatusBadGateway, schema.CodeGNS3Unavailable)
	}
	if ready.Message != chat.Message || ready.Hint != chat.Hint || !strings.Contains(ready.Hint, nowhere) {
		t.Errorf("%s\n%s", ready.text, chat.text)
	}
}
