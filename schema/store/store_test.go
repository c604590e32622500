package store

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"gns3copilot/schema"

	"github.com/google/uuid"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(Options{URL: filepath.Join(t.TempDir(), "a ?%#name.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func input(user, project, session, message string) schema.BeginTurnInput {
	return schema.BeginTurnInput{RunID: "run", TurnInput: schema.TurnInput{
		TurnRef: schema.TurnRef{
			TurnID: uuid.NewString(), SessionKey: SessionKey(user, project, session), SessionID: session, ProjectID: project, UserID: user,
		},
		Message: message, Mode: schema.ModeAutomation,
	}}
}

func begin(t *testing.T, s *Store, in schema.BeginTurnInput) bool {
	t.Helper()
	want, err := s.BeginTurn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func finish(t *testing.T, s *Store, in schema.FinishTurnInput) Finished {
	t.Helper()
	f, err := s.FinishTurn(t.Context(), in, "fallback")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func session(t *testing.T, s *Store, in schema.BeginTurnInput) Session {
	t.Helper()
	found, err := s.Scope(in.UserID, in.ProjectID).Session(t.Context(), in.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func twoCalls() Message {
	return Message{ID: uuid.NewString(), Content: "looking", ToolCalls: []ToolCall{
		{ID: "c1", Name: "tool_a", Arguments: "{}"}, {ID: "c2", Name: "tool_b", Arguments: "{}"},
	}}
}

func TestATurnsBooks(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "hello")
	for range 2 { // an activity may run twice
		if !begin(t, s, in) {
			t.Fatal("a new session wants a title")
		}
	}
	first, err := s.PutAssistant(t.Context(), in.TurnRef, 1, 1, twoCalls())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.PutAssistant(t.Context(), in.TurnRef, 1, 1, Message{ID: uuid.NewString(), Content: "another answer"})
	if err != nil || again.ID != first.ID || again.Content != "looking" || len(again.ToolCalls) != 2 {
		t.Fatalf("the first answer doesn't stand: %+v %v", again, err)
	}
	for i, want := range []bool{true, false} {
		m, stored, err := s.PutResult(t.Context(), in.TurnRef, 1, "c2", fmt.Sprint("result ", i), "the whole")
		if err != nil || stored != want || m.Content != "result 0" || m.Name != "tool_b" {
			t.Fatalf("result %d: %+v %v %v", i, m, stored, err)
		}
	}
	if _, _, err := s.PutResult(t.Context(), in.TurnRef, 1, "unknown", "x", ""); err == nil {
		t.Fatal("a result without a call was stored")
	}
	if err := s.SetTurnTitle(t.Context(), in.TurnRef, "A title"); err != nil {
		t.Fatal(err)
	}
	end := schema.FinishTurnInput{TurnRef: in.TurnRef, State: schema.TurnDone, StopReason: schema.StopComplete, Steps: 2,
		Usage: schema.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15, LLMCalls: 2}}
	for range 3 {
		if f := finish(t, s, end); f.State != schema.TurnDone || f.Title != "A title" || !f.TitleChanged {
			t.Fatalf("%+v", f)
		}
	}
	got := session(t, s, in)
	// One user message, the assistant once, and two results: c1's is a placeholder, since nobody gave one.
	if got.MessageCount != 4 || got.LLMCallsCount != 2 || got.TotalTokens != 15 || got.Title != "A title" || got.Metadata.TitleSource != TitleAuto {
		t.Fatalf("%+v", got)
	}
	if got.Stats.ToolCalls["tool_a"] != 1 || got.Stats.ToolCalls["tool_b"] != 1 {
		t.Fatalf("%+v", got.Stats)
	}
	history, err := s.Scope("ada", "p").History(t.Context(), got, 100)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, m := range history {
		order = append(order, m.Role+m.ToolCallID)
	}
	if fmt.Sprint(order) != "[user assistant toolc1 toolc2]" {
		t.Fatalf("%v", order)
	}
	if text, err := s.Scope("ada", "p").ToolOutput(t.Context(), got, "c2"); err != nil || text != "the whole" {
		t.Fatalf("%q %v", text, err)
	}
	if text, err := s.ToolOutput(t.Context(), in.TurnRef, "c2"); err != nil || text != "the whole" {
		t.Fatalf("%q %v", text, err)
	}
	foreign := in.TurnRef
	foreign.UserID = "bob"
	if text, err := s.ToolOutput(t.Context(), foreign, "c2"); schema.CodeOf(err) != schema.CodeNotFound {
		t.Fatalf("%q %v", text, err)
	}
}

func TestAnOlderAttemptCannotAnswer(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "hello")
	begin(t, s, in)
	if err := s.ClaimStep(t.Context(), in.TurnRef, 1, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutAssistant(t.Context(), in.TurnRef, 1, 1, Message{ID: "zombie"}); schema.CodeOf(err) != schema.CodeConflict {
		t.Fatalf("attempt 1: %v", err)
	}
	if m, err := s.PutAssistant(t.Context(), in.TurnRef, 1, 2, Message{ID: "real"}); err != nil || m.ID != "real" {
		t.Fatalf("attempt 2: %+v %v", m, err)
	}
	if m, err := s.PutAssistant(t.Context(), in.TurnRef, 2, 1, Message{ID: "next"}); err != nil || m.ID != "next" {
		t.Fatalf("the next step: %+v %v", m, err)
	}
}

func TestTitles(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "hello")
	end := func(title string) string {
		in.TurnID = uuid.NewString()
		begin(t, s, in)
		if err := s.SetTurnTitle(t.Context(), in.TurnRef, title); err != nil {
			t.Fatal(err)
		}
		finish(t, s, schema.FinishTurnInput{TurnRef: in.TurnRef, State: schema.TurnDone})
		return session(t, s, in).Title
	}
	for _, step := range []struct{ made, want string }{
		{"", "fallback"}, {"", "fallback"}, {"Better", "Better"}, {"Later", "Better"},
	} {
		if got := end(step.made); got != step.want {
			t.Fatalf("made %q: title %q, want %q", step.made, got, step.want)
		}
	}
}

func TestAnAbandonedTurnIsRepaired(t *testing.T) {
	s := openStore(t)
	old := input("ada", "p", "s", "first")
	begin(t, s, old)
	if _, err := s.PutAssistant(t.Context(), old.TurnRef, 1, 1, twoCalls()); err != nil {
		t.Fatal(err)
	}
	next := input("ada", "p", "s", "second")
	begin(t, s, next)
	turn, err := s.Turn(t.Context(), old.TurnRef)
	if err != nil || turn.State != schema.TurnFailed || turn.FinishedAt == nil {
		t.Fatalf("%+v %v", turn, err)
	}
	results, err := s.Results(t.Context(), old.TurnRef, 1)
	if err != nil || len(results) != 2 {
		t.Fatalf("%v %v", results, err)
	}
	if got := session(t, s, next); got.MessageCount != 4 {
		t.Errorf("the abandoned turn's messages count too: %d", got.MessageCount)
	}
	// Its worker may live on and not know.
	if _, err := s.PutAssistant(t.Context(), old.TurnRef, 2, 1, Message{ID: "late"}); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("a late answer: %v", err)
	}
	messages, err := s.Conversation(t.Context(), next.TurnRef)
	if err != nil || len(messages) != 5 || messages[4].Content != "second" {
		t.Fatalf("%d %v", len(messages), err)
	}
}

func TestNobodySeesAnothersSessions(t *testing.T) {
	s := openStore(t)
	ada, bob, elsewhere := input("ada", "p", "s", "a"), input("bob", "p", "s", "b"), input("ada", "q", "s", "c")
	for _, in := range []schema.BeginTurnInput{ada, bob, elsewhere} {
		begin(t, s, in)
		list, err := s.Scope(in.UserID, in.ProjectID).Sessions(t.Context(), "", 100)
		if err != nil || len(list) != 1 || list[0].UserID != in.UserID || list[0].ProjectID != in.ProjectID {
			t.Fatalf("%+v %v", list, err)
		}
		messages, err := s.Scope(in.UserID, in.ProjectID).History(t.Context(), list[0], 100)
		if err != nil || len(messages) != 1 || messages[0].Content != in.Message {
			t.Fatalf("%+v %v", messages, err)
		}
	}
	if _, err := s.Scope("eve", "p").Session(t.Context(), "s"); schema.CodeOf(err) != schema.CodeNotFound {
		t.Fatalf("%v", err)
	}
	foreign := ada.TurnRef
	foreign.UserID = "bob"
	if _, err := s.Turn(t.Context(), foreign); schema.CodeOf(err) != schema.CodeNotFound {
		t.Fatalf("%v", err)
	}
	if _, err := s.Scope("bob", "p").Turn(t.Context(), session(t, s, bob), ada.TurnID); schema.CodeOf(err) != schema.CodeNotFound {
		t.Fatalf("%v", err)
	}
}

func TestListOrderAndFilter(t *testing.T) {
	s := openStore(t)
	for i, mode := range []schema.Mode{schema.ModeTeaching, schema.ModeAutomation, schema.ModeTeaching} {
		in := input("ada", "p", fmt.Sprint("s", i), "x")
		in.Mode = mode
		begin(t, s, in)
	}
	names := func(mode schema.Mode, limit int) string {
		list, err := s.Scope("ada", "p").Sessions(t.Context(), mode, limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range list {
			got = append(got, one.ThreadID)
		}
		return fmt.Sprint(got)
	}
	if got := names("", 100); got != "[s2 s1 s0]" {
		t.Error(got)
	}
	if got := names(schema.ModeTeaching, 100); got != "[s2 s0]" {
		t.Error(got)
	}
	if got := names("", 1); got != "[s2]" {
		t.Error(got)
	}
}

func TestManyWritersDoNotFail(t *testing.T) {
	s := openStore(t)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			in := input("ada", "p", fmt.Sprint("s", i), "x")
			if _, err := s.BeginTurn(context.Background(), in); err != nil {
				t.Error(err)
			}
			if _, err := s.FinishTurn(context.Background(), schema.FinishTurnInput{TurnRef: in.TurnRef, State: schema.TurnDone}, "f"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := s.Scope("ada", "p").Sessions(t.Context(), "", 100)
	if err != nil || len(list) != 32 {
		t.Fatalf("%d %v", len(list), err)
	}
}

func TestProcessesThatStartTogetherMigrateOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := Open(Options{URL: path})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Migrate(context.Background()); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestAMissingSchemaIsNotReady(t *testing.T) {
	s, err := Open(Options{URL: filepath.Join(t.TempDir(), "db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ping(t.Context()); schema.CodeOf(err) != schema.CodeUnavailable {
		t.Fatalf("%v", err)
	}
}

func TestKeysDependOnEachPart(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range []string{SessionKey("a", "b", "c"), SessionKey("a", "bc", ""), SessionKey("ab", "", "c"), TurnID("a", "b", "c")} {
		if seen[k] {
			t.Fatal("two names share a key")
		}
		seen[k] = true
	}
}

// pgError is an error as the PostgreSQL driver gives it.
type pgError string

func (e pgError) Error() string    { return "ERROR (SQLSTATE " + string(e) + ")" }
func (e pgError) SQLState() string { return string(e) }

// TestATextThatPostgresRefuses can't be stored by trying again, unlike whatever else goes wrong with a database.
func TestATextThatPostgresRefuses(t *testing.T) {
	for state, want := range map[string]schema.Code{"22021": schema.CodeInvalid, "57P01": schema.CodeUnavailable} {
		if got := schema.CodeOf(domainError(fmt.Errorf("store: %w", pgError(state)))); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
}
