package store

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/schema"
)

// callOf is a call of a turn's step: 10 tokens in, 5 out, for a dollar.
func callOf(in schema.BeginTurnInput, step int, name string) ModelCall {
	return ModelCall{
		TurnID: in.TurnID, Call: name, Step: step, Attempt: 1, Purpose: PurposeAnswer, UserID: in.UserID, ProjectID: in.ProjectID,
		SessionKey: in.SessionKey, Model: "m", InputTokens: 10, OutputTokens: 5, CostMicroUSD: 1e6, CostKnown: true,
	}
}

func note(t *testing.T, s *Store, c ModelCall) (schema.Usage, schema.DaySum) {
	t.Helper()
	step, day, err := s.NoteCall(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return step, day
}

// TestACallIsNotedOnce, however often and from however many sides.
func TestACallIsNotedOnce(t *testing.T) {
	s := openStore(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return now }
	in := input("u", "p", "s", "hello")
	begin(t, s, in)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, _, err := s.NoteCall(context.Background(), callOf(in, 1, "one")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	retried := callOf(in, 1, "two")
	retried.CostKnown, retried.CostMicroUSD, retried.Estimated = false, 0, true
	note(t, s, retried)
	title := callOf(in, 0, "title")
	title.Purpose = PurposeTitle
	note(t, s, title)
	step, day := note(t, s, callOf(in, 2, "three"))
	one := schema.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15, CostMicroUSD: 1e6}
	if step != one {
		t.Errorf("the second step has used %+v", step)
	}
	if want := (schema.DaySum{Date: schema.Date(now), Tokens: 60, CostMicroUSD: 3e6}); day != want {
		t.Errorf("the day's sum is %+v, want %+v", day, want)
	}
	step, day2, err := s.StepUsage(t.Context(), in.TurnRef, 1)
	if want := one.Add(schema.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15, Estimated: true, CostUnknown: true}); err != nil || step != want || day2 != day {
		t.Errorf("the first step has used %+v and the day %+v, %v", step, day2, err)
	}
	turn, err := s.TurnUsage(t.Context(), in.TurnRef)
	if err != nil || turn.TotalTokens != 45 || turn.CostMicroUSD != 2e6 || !turn.CostUnknown || !turn.Estimated {
		t.Errorf("the turn has used %+v, %v", turn, err)
	}
}

// TestADayEndsAtMidnight in UTC, wherever the server stands.
func TestADayEndsAtMidnight(t *testing.T) {
	s := openStore(t)
	in := input("u", "p", "s", "hello")
	begin(t, s, in)
	elsewhere := time.FixedZone("elsewhere", 10*3600)
	midnight := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, at := range map[string]time.Time{"before": midnight.Add(-time.Second), "at": midnight, "after": midnight.Add(time.Hour)} {
		s.now = func() time.Time { return at.In(elsewhere) }
		note(t, s, callOf(in, 1, name))
	}
	days, err := s.UsageOfDays(t.Context(), UsageFilter{UserID: "u", Since: "2026-02-28"})
	if err != nil || len(days) != 2 || days[0].Date != "2026-03-01" || days[0].LLMCalls != 2 || days[1].Date != "2026-02-28" || days[1].TotalTokens != 15 {
		t.Errorf("%+v %v", days, err)
	}
	if day, err := s.DaySum(t.Context(), "u", midnight.In(elsewhere)); err != nil || day.Tokens != 30 {
		t.Errorf("%+v %v", day, err)
	}
	if days, err = s.UsageOfDays(t.Context(), UsageFilter{UserID: "u", Since: "2026-03-01"}); err != nil || len(days) != 1 {
		t.Errorf("%+v %v", days, err)
	}
}

// TestUsageIsSummedUp by user, project and session; a deleted session's counts for its user's day alone, also what comes in after that.
func TestUsageIsSummedUp(t *testing.T) {
	s := openStore(t)
	turns := map[string]schema.BeginTurnInput{}
	for _, name := range []string{"u/p/kept", "u/p/gone", "u/q/kept", "v/p/kept"} {
		part := strings.Split(name, "/")
		in := input(part[0], part[1], part[2], "hello")
		begin(t, s, in)
		note(t, s, callOf(in, 1, "one"))
		note(t, s, callOf(in, 2, "two"))
		finish(t, s, schema.FinishTurnInput{TurnRef: in.TurnRef, State: schema.TurnDone, StopReason: schema.StopComplete})
		turns[name] = in
	}
	gone := turns["u/p/gone"]
	if err := s.Scope("u", "p").Delete(t.Context(), session(t, s, gone)); err != nil {
		t.Fatal(err)
	}
	late := callOf(gone, 0, "late title")
	late.Purpose = PurposeTitle
	note(t, s, late)
	begin(t, s, input("u", "p", "gone", "another of that name"))

	for _, c := range []struct {
		filter UsageFilter
		calls  int
		named  []string
	}{
		{UsageFilter{UserID: "u"}, 7, []string{"q/kept", "p/kept"}},
		{UsageFilter{UserID: "u", ProjectID: "p"}, 5, []string{"p/kept"}},
		{UsageFilter{UserID: "u", SessionID: "kept"}, 4, []string{"q/kept", "p/kept"}},
		{UsageFilter{UserID: "u", ProjectID: "q", SessionID: "kept"}, 2, []string{"q/kept"}},
		{UsageFilter{UserID: "u", SessionID: "gone"}, 0, nil},
		{UsageFilter{UserID: "v"}, 2, []string{"p/kept"}},
		{UsageFilter{UserID: "w"}, 0, nil},
	} {
		days, err := s.UsageOfDays(t.Context(), c.filter)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		for _, d := range days {
			calls += d.LLMCalls
		}
		sessions, err := s.UsageOfSessions(t.Context(), c.filter, 10)
		if err != nil {
			t.Fatal(err)
		}
		var named []string
		for _, one := range sessions {
			named = append(named, one.ProjectID+"/"+one.SessionID)
			if one.Turns != 1 || one.LLMCalls != 2 || one.TotalTokens != 30 || one.CostUSD != 2 || !one.CostKnown {
				t.Errorf("%+v", one)
			}
		}
		if calls != c.calls || !slices.Equal(named, c.named) {
			t.Errorf("%+v: %d calls, sessions %v", c.filter, calls, named)
		}
	}
	if sessions, err := s.UsageOfSessions(t.Context(), UsageFilter{UserID: "u"}, 1); err != nil || len(sessions) != 1 {
		t.Errorf("%v %v", sessions, err)
	}
}
