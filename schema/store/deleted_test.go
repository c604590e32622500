package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// TestSessionsOfADeletedProject finds everybody's, and not those of a project that has the id since.
func TestSessionsOfADeletedProject(t *testing.T) {
	s := openStore(t)
	const project, other = "3f0c5a52-1111-4222-8333-9a7b6c5d4e3f", "99999999-1111-4222-8333-9a7b6c5d4e3f"
	for _, in := range [][3]string{{"ada", project, "a1"}, {"ada", project, "a2"}, {"bob", strings.ToUpper(project), "b1"}, {"ada", other, "c1"}} {
		begin(t, s, input(in[0], in[1], in[2], "hello"))
	}
	// Twice, as when two processes hear of it.
	for range 2 {
		if err := s.NoteDeleted(t.Context(), strings.ToUpper(project), s.now()); err != nil {
			t.Fatal(err)
		}
	}
	begin(t, s, input("ada", project, "younger", "hello"))
	noted := func() []DeletedProject {
		t.Helper()
		all, err := s.DeletedProjects(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := noted()
	if len(all) != 1 || all[0].ProjectID != project {
		t.Fatalf("%+v", all)
	}
	sessions, err := s.SessionsOf(t.Context(), all[0])
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, session := range sessions {
		names = append(names, session.ThreadID)
	}
	if !slices.Equal(names, []string{"a1", "a2", "b1"}) {
		t.Errorf("%q", names)
	}
	if err := s.NoteDeleted(t.Context(), project, s.now()); err != nil {
		t.Fatal(err)
	}
	again := noted()[0].At
	if err := s.NoteDeleted(t.Context(), project, again.Add(-time.Hour)); err != nil || !noted()[0].At.Equal(again) {
		t.Errorf("what was known earlier and noted later: %v %v", noted(), err)
	}
	// What is done is done for the first deletion, not for the second.
	if err := s.Forgotten(t.Context(), all[0]); err != nil || len(noted()) != 1 {
		t.Errorf("%v %v", noted(), err)
	}
	if err := s.Forgotten(t.Context(), noted()[0]); err != nil || len(noted()) != 0 {
		t.Errorf("%v %v", noted(), err)
	}
}

// TestTheTrailOfADeletedProject is none of a new project's that has its id: neither what was asked for before the deletion, nor what a turn asks
// for that goes on until it is aborted. What the new one's turns ask for is seen.
func TestTheTrailOfADeletedProject(t *testing.T) {
	s := openStore(t)
	const project = "3f0c5a52-1111-4222-8333-9a7b6c5d4e3f"
	ask := func(in schema.BeginTurnInput, call string) {
		t.Helper()
		if err := s.AddApprovals(t.Context(), []Approval{waitingCall(in, call)}); err != nil {
			t.Fatal(err)
		}
	}
	// Times are text on SQLite, with as many digits as they need.
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.now = func() time.Time { at = at.Add(300 * time.Millisecond); return at }
	for range 2 { // a client may give an id as often as it likes
		before, after := input("ada", project, "before", "hello"), input("bob", project, "after", "hello")
		begin(t, s, before)
		ask(before, "earlier")
		if err := s.NoteDeleted(t.Context(), project, s.now()); err != nil {
			t.Fatal(err)
		}
		ask(before, "later")
		begin(t, s, after)
		ask(after, "new")
		waiting, err := s.Inbox(t.Context(), []string{project})
		if err != nil || len(waiting) != 1 || waiting[0].ToolCallID != "new" {
			t.Fatalf("%+v %v", waiting, err)
		}
		for _, call := range []string{"earlier", "later"} {
			if state, err := s.CallState(t.Context(), project, "before", []string{call}); err != nil || state != "" {
				t.Errorf("%s: %q %v", call, state, err)
			}
		}
		for _, in := range []schema.BeginTurnInput{before, after} {
			ended := schema.ExpireInput{TurnRef: in.TurnRef, Step: 1, Calls: []string{"earlier", "later", "new"}, State: schema.ApprovalAborted}
			if _, err := s.EndApprovals(t.Context(), ended); err != nil {
				t.Fatal(err)
			}
		}
		for deleted, want := range map[bool]int{false: 1, true: 3} {
			trail, err := s.Decided(t.Context(), []string{project}, deleted, 3)
			if err != nil || len(trail) != want {
				t.Errorf("with those of deleted projects %t: %+v %v", deleted, trail, err)
			}
		}
	}
}
