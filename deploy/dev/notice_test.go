package dev_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/schema"
)

// notices are the server's own words in a stream.
func notices(events []client.Received) []client.Received {
	return slices.DeleteFunc(slices.Clone(events), func(ev client.Received) bool { return ev.Notice == "" })
}

// heard gives the history's messages of one role.
func heard(h schema.ConversationHistory, role string) []schema.ChatMessage {
	return slices.DeleteFunc(slices.Clone(h.Messages), func(m schema.ChatMessage) bool { return m.Role != role })
}

// TestNoticesTellWhatWaits: a client that shows nothing but text learns what waits, where it is decided, and what was decided; each once,
// wherever it takes the stream up. The model hears nothing of it, and the books don't count it.
func TestNoticesTellWhatWaits(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "tell what waits", call(configTool, configure("R1", "interface Loopback71", "description **told**")), text("done"))
	required := last(asked)
	link := suite.stack.URL() + "/copilot/approvals#/" + u.project + "/" + session + "/" + required.HITLSessionID
	notice, err := s.Next()
	if err != nil || notice.Type != schema.EventContent || notice.Notice != schema.NoticeApproval || notice.ID == required.ID || notice.SessionID != session {
		t.Fatalf("behind hitl_required: %+v %v", notice, err)
	}
	for _, want := range []string{"Nothing has been sent", "**Configure R1: 2 lines**", "Danger: medium", "R1:\n  configure terminal\n  interface Loopback71\n  description **told**\n  end\n", "](" + link + ") within 5 minutes", " UTC"} {
		if !strings.Contains(notice.Content, want) {
			t.Errorf("%q is missing in\n%s", want, notice.Content)
		}
	}
	waiting := u.history(session)
	if m := waiting.Messages[len(waiting.Messages)-1]; m.Role != "system" || !strings.Contains(m.Content, link) || m.Metadata["notice"] != "approval" {
		t.Errorf("the history ends with %+v", m)
	}

	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	events := slices.Concat(asked, []client.Received{notice}, until(t, s, isType(schema.EventDone)))
	told := notices(events)
	if len(told) != 2 || !strings.Contains(told[1].Content, "**Confirmed** by admin: Configure R1: 2 lines.") {
		t.Fatalf("%+v", told)
	}
	for at := range events { // a client that was thrown out behind any event
		if events[at].ID == "" || events[at].Type == schema.EventDone {
			continue
		}
		if rest := u.collect(session, events[at].ID); ids(rest) != ids(events[at+1:]) {
			t.Errorf("behind %s %s: %s, want %s", events[at].Type, events[at].ID, ids(rest), ids(events[at+1:]))
		}
	}
	if whole := u.collect(session, ""); ids(whole) != ids(events) {
		t.Errorf("from the beginning: %s, want %s", ids(whole), ids(events))
	}

	h := u.history(session)
	said := heard(h, "system")
	if len(said) != 1 || !strings.Contains(said[0].Content, "**Confirmed** by admin") || strings.Contains(said[0].Content, link) {
		t.Errorf("%+v", said)
	}
	var roles []string
	for _, m := range h.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "user assistant tool system assistant" {
		t.Errorf("the history is %s", got)
	}
	if n := u.manage(http.MethodPut, "/sessions/"+session+"/pin", "").MessageCount; n != 3 { // a user's message, the assistant once, a tool message
		t.Errorf("%d messages are counted", n)
	}
	for _, body := range suite.model.Sent() {
		if text := string(body); strings.Contains(text, "tell what waits") && (strings.Contains(text, "Nothing has been sent") || strings.Contains(text, "Confirmed")) {
			t.Errorf("the model was told: %s", text)
		}
	}
}

// TestNoticesOfOtherEnds: rejected with a reason that would like to be a link, and aborted.
func TestNoticesOfOtherEnds(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "two ends", two, text("done"))
	_, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{ToolCallIDs: []string{last(asked).PendingTools[0].ToolCallID}, Reason: "[see](http://evil.example)"})
	if err != nil {
		t.Fatal(err)
	}
	events := until(t, s, isType(schema.EventToolEnd))
	waiting := heard(u.history(session), "system")
	if len(waiting) != 1 || !strings.Contains(waiting[0].Content, "**Rejected** by admin: Configure R1") || !strings.Contains(waiting[0].Content, "Nothing has been sent") {
		t.Errorf("%+v", waiting)
	}
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	told := notices(append(events, until(t, s, isType(schema.EventDone))...))
	if len(told) != 3 || !strings.Contains(told[1].Content, `Nothing was sent or changed. Reason: \[see\](http\://evil.example)`) || !strings.Contains(told[2].Content, "**Aborted**: Configure R2") {
		t.Errorf("%+v", told)
	}
}

// TestNoticesSpeakToTheirReader: in the reader's language, with the address that the reader has come by, whoever began the turn.
func TestNoticesSpeakToTheirReader(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	_, asked := propose(t, u, session, "who reads it", call(configTool, configure("R1", "interface Loopback72")), text("done"))
	headers := []string{"Accept-Language", "zh-CN,zh;q=0.9", "X-Forwarded-Host", "lab.example.org", "X-Forwarded-Proto", "https"}
	_, text := u.raw(http.MethodGet, u.chatPath("/sessions/"+session+"/history"), "", true, headers...)
	var h schema.ConversationHistory
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	said := heard(h, "system")
	if len(said) != 1 || !strings.Contains(said[0].Content, "尚未发送") || !strings.Contains(said[0].Content, "(https://lab.example.org/copilot/approvals#/"+u.project+"/"+session+"/"+last(asked).HITLSessionID+")") {
		t.Errorf("%+v", said)
	}
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	u.collect(session, "")
	_, stream := u.raw(http.MethodGet, u.chatPath("/sessions/"+session+"/events"), "", true, append(headers, "X-Forwarded-Host", "evil.example)[x](http://evil.example")...)
	if !strings.Contains(stream, "已中止") || !strings.Contains(stream, "](/copilot/approvals#/") || strings.Contains(stream, "evil.example") {
		t.Errorf("%s", stream)
	}
}

// TestNoticesLeadToThePublicAddress, whatever the request says, when the operator has named one.
func TestNoticesLeadToThePublicAddress(t *testing.T) {
	own := startOwn(t, func(o *dev.Options) { o.PublicURL = "https://lab.example.org/copilots/" })
	u, session := loginAt(t, own.URL(), "admin"), newSession()
	suite.model.On("where it is decided", call(configTool, configure("R1", "interface Loopback73")))
	s := u.post(session, "where it is decided")
	until(t, s, isType(schema.EventHITLRequired))
	notice, err := s.Next()
	if err != nil || !strings.Contains(notice.Content, "](https://lab.example.org/copilots/copilot/approvals#/") {
		t.Errorf("%+v %v", notice, err)
	}
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
}
