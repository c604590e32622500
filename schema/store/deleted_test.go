package store

import (
	"slices"
	"strings"
	"testing"
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
		if err := s.NoteDeleted(t.Context(), strings.ToUpper(project)); err != nil {
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
	if err := s.NoteDeleted(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	// What is done is done for the first deletion, not for the second.
	if err := s.Forgotten(t.Context(), all[0]); err != nil || len(noted()) != 1 {
		t.Errorf("%v %v", noted(), err)
	}
	if err := s.Forgotten(t.Context(), noted()[0]); err != nil || len(noted()) != 0 {
		t.Errorf("%v %v", noted(), err)
	}
}
