package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

func hitl(u user, session string) string {
	return "/v3/copilot/projects/" + u.project + "/chat/sessions/" + session + "/hitl/"
}

// TestOneDeviceInSeveralSpellings: a device is one device, however the model writes its name: its lines keep their order, within a call and
// from call to call.
func TestOneDeviceInSeveralSpellings(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "spelt", func(r *scriptmodel.Reply) {
		r.Call(configTool, `{"device_configs": [
			{"device_name": "R2", "config_commands": ["interface Loopback51", "description one"]},
			{"device_name": "r2", "config_commands": ["description two"]}]}`)
		r.Call(configTool, configure(" r2 ", "interface Loopback51", "description three"))
	}, text("done"))
	pending := last(asked).PendingTools
	if devices := pending[0].Preview.Devices; len(devices) != 1 || devices[0].Name != "R2" || len(devices[0].Lines) != 5 {
		t.Fatalf("%+v", devices)
	}
	// The later call is confirmed first and must wait all the same.
	for _, i := range []int{1, 0} {
		if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{pending[i].ToolCallID}}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, s, isType(schema.EventDone))
	var got []string
	for _, l := range suite.lab.Lines("R2") {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "description ") {
			got = append(got, strings.TrimPrefix(l, "description "))
		}
	}
	if strings.Join(got, " ") != "one two three" {
		t.Errorf("%q", got)
	}
	changes, err := u.Changes(t.Context(), u.project, session)
	if err != nil || len(changes) != 2 || changes[0].DeviceName != "R2" || changes[0].Acked != 3 {
		t.Errorf("%+v %v", changes, err)
	}
}

// TestModifiedIntoWhatMayNotRun: what could never be run is refused at once, and the call waits as before.
func TestModifiedIntoWhatMayNotRun(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "modify badly", call(configTool, configure("R2", "interface Loopback52")), text("done"))
	id := last(asked).PendingTools[0].ToolCallID
	for name, args := range map[string]string{
		"an unknown device": configure("R99", "interface Loopback52"),
		"a forbidden line":  configure("R2", "do debug all"),
		"no device":         `{"device_configs": []}`,
	} {
		code, body := u.raw(http.MethodPost, hitl(u, session)+"modify", fmt.Sprintf(`{"tool_call_id": %q, "modified_args": %s}`, id, args), true)
		if code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	if status, err := u.HITLStatus(t.Context(), u.project, session); err != nil || len(status.PendingTools) != 1 {
		t.Fatalf("%+v %v", status, err)
	}
	var large map[string]any
	lines := make([]string, 400)
	for i := range lines {
		lines[i] = "description " + strings.Repeat("x", 200)
	}
	if err := json.Unmarshal([]byte(configure("R2", lines...)), &large); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Modify(t.Context(), u.project, session, schema.ModifyRequest{ToolCallID: id, ModifiedArgs: large}); err != nil {
		t.Errorf("a change of 80 KB: %v", err)
	}
	until(t, s, isType(schema.EventDone))
}

// TestDecisionsThatAreNotMeant: a decision that may not mean what it says changes nothing.
func TestDecisionsThatAreNotMeant(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "be strict", func(r *scriptmodel.Reply) {
		r.Call(configTool, configure("R1", "interface Loopback53"))
		r.Call(configTool, configure("R2", "interface Loopback53"))
	}, text("done"))
	a, b := last(asked).PendingTools[0], last(asked).PendingTools[1]
	for body, want := range map[string]int{
		fmt.Sprintf(`{"confirm_all": true, "expected_sha265": {%q: "0"}}`, a.ToolCallID):                                         http.StatusUnprocessableEntity,
		fmt.Sprintf(`{"confirm_all": true, "expected_sha256": {%q: %q}}`, a.ToolCallID, a.ArgsSHA256):                            http.StatusConflict,
		fmt.Sprintf(`{"tool_call_ids": [%q], "expected_sha256": {%q: %q}}`, a.ToolCallID, b.ToolCallID, b.ArgsSHA256):            http.StatusConflict,
		fmt.Sprintf(`{"tool_call_ids": [%q], "expected_sha256": {%q: %q}}`, a.ToolCallID, a.ToolCallID, a.ArgsSHA256[:63]+"\\n"): http.StatusConflict,
	} {
		if code, answer := u.raw(http.MethodPost, hitl(u, session)+"confirm", body, true); code != want {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
	if sent("R1", "interface Loopback53")+sent("R2", "interface Loopback53") != 0 {
		t.Fatal("something was sent")
	}
	const all = `{"reject_all": true}`
	for _, want := range []int{http.StatusOK, http.StatusOK} {
		if code, answer := u.raw(http.MethodPost, hitl(u, session)+"reject", all, true, "Idempotency-Key", "k1"); code != want {
			t.Errorf("with a key: %d %s", code, answer)
		}
	}
	if code, answer := u.raw(http.MethodPost, hitl(u, session)+"confirm", `{"confirm_all": true}`, true, "Idempotency-Key", "k1"); code != http.StatusUnprocessableEntity {
		t.Errorf("another decision under the key: %d %s", code, answer)
	}
	until(t, s, isType(schema.EventDone))
}

// TestTwoUsersWithOneName: who may see a project decides in it, also when both have a session of the same name.
func TestTwoUsersWithOneName(t *testing.T) {
	student, admin, session := login(t, "student"), login(t, "admin"), newSession()
	admin.project = student.project
	propose2 := func(u user, line string) schema.Event {
		s, asked := propose(t, u, session, line, call(configTool, configure("R1", line)), text("done"))
		t.Cleanup(func() { s.Close() })
		return last(asked).Event
	}
	first := propose2(student, "interface Loopback54")
	if status, err := admin.HITLStatus(t.Context(), admin.project, session); err != nil || status.Status != "waiting" || *status.HITLSessionID != first.HITLSessionID {
		t.Fatalf("the other's call isn't seen: %+v %v", status, err)
	}
	second := propose2(admin, "interface Loopback55")
	if status, err := admin.HITLStatus(t.Context(), admin.project, session); err != nil || *status.HITLSessionID != second.HITLSessionID {
		t.Errorf("one's own doesn't come first: %+v %v", status, err)
	}
	reject := schema.RejectRequest{RejectAll: true, HITLSessionID: first.HITLSessionID}
	if _, err := admin.Reject(t.Context(), admin.project, session, reject); err != nil {
		t.Errorf("the one that is named: %v", err)
	}
	if _, err := admin.Reject(t.Context(), admin.project, session, reject); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("a decided one: %v", err)
	}
	if _, err := admin.Reject(t.Context(), admin.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Errorf("one's own: %v", err)
	}
}

// TestTerminatedWhilePending: nothing waits any more of a turn that an operator has ended.
func TestTerminatedWhilePending(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "terminated while pending", call(configTool, configure("R1", "interface Loopback56")), text("done"))
	s.Close()
	terminate(t, session)
	inbox, err := u.Inbox(t.Context())
	for _, it := range inbox {
		if it.SessionID == session {
			t.Errorf("still in the inbox: %+v", it)
		}
	}
	if status, serr := u.HITLStatus(t.Context(), u.project, session); err != nil || serr != nil || status.Status != "idle" {
		t.Errorf("%+v %v %v", status, err, serr)
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("a late word: %v", err)
	}
	if results := heard(u.history(session), "tool"); len(results) != 1 || *results[0].ToolCallID != last(asked).PendingTools[0].ToolCallID {
		t.Errorf("the call has no result: %+v", results)
	}
}
