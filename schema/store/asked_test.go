package store

import (
	"testing"
	"time"

	"gns3copilot/schema"
)

// waitingCall is a call of the turn's that waits for a word.
func waitingCall(in schema.BeginTurnInput, call string) Approval {
	return Approval{HITLSessionID: "h", TurnID: in.TurnID, ToolCallID: call, Step: 1, SessionKey: in.SessionKey, SessionID: in.SessionID, UserID: in.UserID,
		ProjectID: in.ProjectID, ToolName: "t", ArgsSHA256: "of " + call, Danger: schema.DangerMedium, Required: 1, ExpiresAt: time.Now().Add(time.Minute)}
}

// TestWhoAskedStaysByName with a call that waits, with what was decided, and when the conversation is gone; also of a call that runs under the
// word on an earlier one.
func TestWhoAskedStaysByName(t *testing.T) {
	s := openStore(t)
	in := input("id-of-ada", "p", "s", "x")
	in.UserName = "ada"
	begin(t, s, in)
	check := func(when string, rows []Approval, err error, n int) {
		t.Helper()
		if err != nil || len(rows) != n {
			t.Fatalf("%s: %+v %v", when, rows, err)
		}
		for _, a := range rows {
			if a.UserName != "ada" {
				t.Errorf("%s: %s was asked by %q", when, a.ToolCallID, a.UserName)
			}
		}
	}
	for range 2 { // an activity may run twice
		if err := s.AddApprovals(t.Context(), []Approval{waitingCall(in, "c1")}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.Inbox(t.Context(), []string{"p"})
	check("waiting", rows, err, 1)

	word := DecisionRow{ID: "d", HITLSessionID: "h", Action: schema.DecideModify, CallIDs: []string{"c1"}, DecidedBy: "id-of-bob", DeciderName: "bob",
		DecidedAt: time.Now(), ModifiedSHA: "of c2"}
	if _, err := s.PutDecision(t.Context(), word); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decide(t.Context(), in.TurnRef, 1, schema.Decision{ID: "d", DecidedAt: word.DecidedAt}, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.AddGranted(t.Context(), []Approval{waitingCall(in, "c2")}); err != nil {
		t.Fatal(err)
	}
	rows, err = s.Decided(t.Context(), []string{"p"}, false, 100)
	check("decided", rows, err, 2)

	finish(t, s, schema.FinishTurnInput{TurnRef: in.TurnRef, State: schema.TurnDone, StopReason: schema.StopComplete})
	if err := s.Scope(in.UserID, in.ProjectID).Delete(t.Context(), session(t, s, in)); err != nil {
		t.Fatal(err)
	}
	rows, err = s.Decided(t.Context(), []string{"p"}, false, 100)
	check("deleted", rows, err, 2)
}

// TestWhoAskedBeforeNamesWereKept: a database from before is brought up to date with what is in it.
func TestWhoAskedBeforeNamesWereKept(t *testing.T) {
	s := openStore(t)
	before, after := input("id-of-ada", "p", "before", "x"), input("id-of-ada", "p", "after", "x")
	begin(t, s, before)
	if err := s.AddApprovals(t.Context(), []Approval{waitingCall(before, "c1")}); err != nil {
		t.Fatal(err)
	}
	for _, back := range []string{"ALTER TABLE turns DROP COLUMN user_name", "ALTER TABLE approvals DROP COLUMN user_name",
		"DELETE FROM migrations WHERE id = '2026-11-30-who-asked'"} {
		if err := s.write.Exec(back).Error; err != nil {
			t.Fatalf("%s: %v", back, err)
		}
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	after.UserName = "ada"
	begin(t, s, after)
	for _, a := range []Approval{waitingCall(before, "c2"), waitingCall(after, "c3")} {
		if err := s.AddApprovals(t.Context(), []Approval{a}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.Inbox(t.Context(), []string{"p"})
	if err != nil || len(rows) != 3 {
		t.Fatalf("%+v %v", rows, err)
	}
	for _, a := range rows {
		if want := map[string]string{"c3": "ada"}[a.ToolCallID]; a.UserName != want {
			t.Errorf("%s was asked by %q, want %q", a.ToolCallID, a.UserName, want)
		}
	}
}
