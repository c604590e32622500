package dev_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	temporal "go.temporal.io/sdk/client"
)

func (u user) chatPath(tail string) string {
	return "/v3/copilot/projects/" + u.project + "/chat" + tail
}

// manage sends a request about a session that must succeed, and gives the session it answers with.
func (u user) manage(method, tail, body string) schema.ChatSession {
	u.t.Helper()
	status, answer := u.raw(method, u.chatPath(tail), body, true)
	var s schema.ChatSession
	if err := json.Unmarshal([]byte(answer), &s); status != http.StatusOK || err != nil {
		u.t.Fatalf("%s %s: %d %s", method, tail, status, answer)
	}
	return s
}

// listed gives the session as the list has it, and its place there.
func (u user) listed(session string) (schema.ChatSession, int) {
	u.t.Helper()
	all, err := u.Sessions(u.t.Context(), u.project)
	if err != nil {
		u.t.Fatal(err)
	}
	for i, s := range all {
		if s.ThreadID == session {
			return s, i
		}
	}
	return schema.ChatSession{}, -1
}

func TestRename(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("name me", text("ok"))
	u.say(session, "name me")
	title := strings.Repeat("é", 255)
	if s := u.manage(http.MethodPatch, "/sessions/"+session, `{"title": "`+title+`"}`); s.Title != title || s.ThreadID != session {
		t.Errorf("%+v", s)
	}
	u.say(session, "name me")
	if s, _ := u.listed(session); s.Title != title || !strings.Contains(string(s.Metadata), `"title_source":"user"`) {
		t.Errorf("after another turn: %+v", s)
	}
	for body, want := range map[string]int{
		`{"title": ""}`: 422, `{"title": "  "}`: 422, `{"title": "a\nb"}`: 422, `{"title": "a\u2028b"}`: 422, `{"title": "a\u0000b"}`: 422, `{}`: 422, `{"title": 7}`: 422,
		`{"title": "` + title + `x"}`: 422, `{"title"`: 400,
	} {
		if status, answer := u.raw(http.MethodPatch, u.chatPath("/sessions/"+session), body, true); status != want {
			t.Errorf("%.40s: %d %s", body, status, answer)
		}
	}
}

func TestRenameDuringTheFirstTurn(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("slow title", func(r *scriptmodel.Reply) { r.Say("wait"); r.Hold(release) })
	s := u.post(session, "slow title")
	until(t, s, isType(schema.EventContent))
	u.manage(http.MethodPatch, "/sessions/"+session, `{"title": "Mine"}`)
	close(release)
	until(t, s, isType(schema.EventDone))
	if s, _ := u.listed(session); s.Title != "Mine" || s.MessageCount != 2 {
		t.Errorf("%+v", s)
	}
}

func TestPinnedSessionsComeFirst(t *testing.T) {
	u, first, second := login(t, "admin"), newSession(), newSession()
	suite.model.On("pin me", text("ok"))
	u.say(first, "pin me")
	u.say(second, "pin me")
	if s := u.manage(http.MethodPut, "/sessions/"+first+"/pin", ""); !s.Pinned {
		t.Errorf("%+v", s)
	}
	if _, place := u.listed(first); place != 0 {
		t.Errorf("the pinned session is number %d", place)
	}
	u.say(second, "pin me") // a turn must not unpin, nor come before
	if s, place := u.listed(first); place != 0 || !s.Pinned {
		t.Errorf("%d %+v", place, s)
	}
	if s := u.manage(http.MethodDelete, "/sessions/"+first+"/pin", ""); s.Pinned {
		t.Errorf("%+v", s)
	}
}

func TestDelete(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("forget this", text("never said"))
	first := u.say(session, "forget this")
	c := operatorOf(t, suite.stack)
	run := awaitRun(t, c, listOf(session))
	if status, answer := u.raw(http.MethodDelete, u.chatPath("/sessions/"+session), "", true); status != http.StatusNoContent || answer != "" {
		t.Fatalf("%d %q", status, answer)
	}
	if _, place := u.listed(session); place >= 0 {
		t.Error("the session is still listed")
	}
	if h := u.history(session); len(h.Messages) != 0 || h.Title != "New Conversation" {
		t.Errorf("%+v", h)
	}
	awaitNoHistory(t, c, run)
	for tail, method := range map[string]string{
		"": http.MethodDelete, "/events": http.MethodGet, "/pin": http.MethodPut, "/changes": http.MethodGet,
	} {
		status, answer := u.raw(method, u.chatPath("/sessions/"+session+tail), "", true)
		if status != http.StatusNotFound || !strings.Contains(answer, "Session '"+session+"' not found") {
			t.Errorf("%s %s: %d %s", method, tail, status, answer)
		}
	}
	// The name may be used again, for a conversation of its own.
	suite.model.On("a new one", text("fresh"))
	if events := u.say(session, "a new one"); said(events) != "fresh" {
		t.Fatalf("%s", types(events))
	}
	if h := u.history(session); len(h.Messages) != 2 {
		t.Errorf("%+v", h.Messages)
	}
	events := u.collect(session, last(first).ID)
	if events[0].Type != schema.EventReset || strings.Contains(said(events), "never said") {
		t.Errorf("from a deleted event: %s %q", types(events), said(events))
	}
}

func TestDeleteStopsTheTurn(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	gone := make(chan struct{})
	suite.model.On("endless", func(r *scriptmodel.Reply) {
		r.Say("once upon a time")
		r.Hold(nil)
		close(gone)
	})
	s := u.post(session, "endless")
	until(t, s, isType(schema.EventContent))
	if status, answer := u.raw(http.MethodDelete, u.chatPath("/sessions/"+session), "", true); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, answer)
	}
	<-gone
	until(t, s, isType(schema.EventDone))
	if h := u.history(session); len(h.Messages) != 0 {
		t.Errorf("%+v", h)
	}
}

// TestDeleteKeepsTheTrail deletes a session whose turn changed a device and whose key is sent again: what was allowed stays on record, and
// nothing is sent twice.
func TestDeleteKeepsTheTrail(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("leave a trail", call(configTool, `{"device_configs": [{"device_name": "R2", "config_commands": ["interface Loopback77"]}]}`), text("done"))
	s, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "leave a trail", SessionID: session}, session)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	asked := last(until(t, s, isType(schema.EventHITLRequired)))
	if _, err := u.Confirm(u.bounded(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
	sent := len(suite.lab.Lines("R2"))
	if status, answer := u.raw(http.MethodDelete, u.chatPath("/sessions/"+session), "", true); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, answer)
	}
	_, trail := u.raw(http.MethodGet, "/v3/copilot/approvals/history", "", true)
	if !strings.Contains(trail, asked.PendingTools[0].ToolCallID) || !strings.Contains(trail, "Loopback77") {
		t.Errorf("the trail is gone: %s", trail)
	}
	again, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "leave a trail", SessionID: session}, session)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := types(until(t, again, isType(schema.EventDone))); got != "reset done " {
		t.Errorf("the key again: %s", got)
	}
	if now := len(suite.lab.Lines("R2")); now != sent {
		t.Errorf("%d lines more reached R2", now-sent)
	}
}

func TestInject(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("Inject a network fault for troubleshooting practice", text("Something is broken now."))
	status, answer := u.raw(http.MethodPost, u.chatPath("/inject"), `{"session_id": "`+session+`"}`, true)
	if status != http.StatusOK || !strings.Contains(answer, "Something is broken now.") {
		t.Fatalf("%d %s", status, answer)
	}
	if s, _ := u.listed(session); !strings.Contains(string(s.Metadata), `"copilot_mode":"troubleshooting_injection"`) {
		t.Errorf("%s", s.Metadata)
	}
	status, answer = u.raw(http.MethodGet, u.chatPath("/sessions?copilot_mode=troubleshooting_injection"), "", true)
	if status != http.StatusOK || !strings.Contains(answer, session) {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer = u.raw(http.MethodPost, u.chatPath("/inject"), `{"message": "  "}`, true); status != http.StatusUnprocessableEntity {
		t.Errorf("a blank message: %d %s", status, answer)
	}
}

// awaitNoHistory waits until Temporal has removed the history of a deleted session's turn, which begins with what its user said.
func awaitNoHistory(t *testing.T, c temporal.Client, run *commonpb.WorkflowExecution) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	var gone *serviceerror.NotFound
	for {
		_, err := c.DescribeWorkflow(t.Context(), run.GetWorkflowId(), run.GetRunId())
		if errors.As(err, &gone) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("Temporal still has the session's turn: %v", err)
		}
	}
}
