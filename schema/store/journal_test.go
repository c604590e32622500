package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/schema"
)

func conflict(t *testing.T, what string, err error) {
	t.Helper()
	if schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("%s: want conflict, got %v", what, err)
	}
}

func TestAPushIsClaimedOnce(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "x")
	var claimed atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if s.ClaimRun(t.Context(), in.TurnRef, "c1", claim("a", "b")) == nil {
				claimed.Add(1)
			}
		})
	}
	wg.Wait()
	if claimed.Load() != 1 {
		t.Fatalf("claimed %d times", claimed.Load())
	}
	for n, err := range []error{s.AckLine(t.Context(), in.TurnRef, "c1", "R1", 0), s.AckLine(t.Context(), in.TurnRef, "c1", "R1", 1)} {
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
	}
	conflict(t, "the same line again", s.AckLine(t.Context(), in.TurnRef, "c1", "R1", 1))
	if err := s.EndRun(t.Context(), in.TurnRef, "c1", DeviceRun{Device: "R1", State: RunDone, Output: "ok"}); err != nil {
		t.Fatal(err)
	}
	conflict(t, "an ended push", s.CheckRun(t.Context(), in.TurnRef, "c1", "R1"))
	r, err := s.SettleRun(t.Context(), in.TurnRef, "c1", "R1", KindDevice)
	if err != nil || r.State != RunDone || r.Acked != 2 || r.Output != "ok" {
		t.Fatalf("settling changes a real result: %+v %v", r, err)
	}
}

func TestAZombieIsFenced(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "x")
	if err := s.ClaimRun(t.Context(), in.TurnRef, "c1", claim("a", "b", "c")); err != nil {
		t.Fatal(err)
	}
	if err := s.AckLine(t.Context(), in.TurnRef, "c1", "R1", 0); err != nil {
		t.Fatal(err)
	}
	r, err := s.SettleRun(t.Context(), in.TurnRef, "c1", "R1", KindDevice)
	if err != nil || r.State != RunUnknown || r.Acked != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	conflict(t, "the next line", s.CheckRun(t.Context(), in.TurnRef, "c1", "R1"))
	conflict(t, "its acknowledgement", s.AckLine(t.Context(), in.TurnRef, "c1", "R1", 1))
	conflict(t, "its end", s.EndRun(t.Context(), in.TurnRef, "c1", DeviceRun{Device: "R1", State: RunDone}))
	conflict(t, "another claim", s.ClaimRun(t.Context(), in.TurnRef, "c1", claim()))
}

func TestATombstoneKeepsALateSenderOut(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "x")
	r, err := s.SettleRun(t.Context(), in.TurnRef, "c1", "R1", KindDevice)
	if err != nil || r.State != RunNothing {
		t.Fatalf("%+v %v", r, err)
	}
	conflict(t, "a claim that comes late", s.ClaimRun(t.Context(), in.TurnRef, "c1", claim("a")))
}

func TestTheTrailCannotBeChanged(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "x")
	if err := s.ClaimRun(t.Context(), in.TurnRef, "c1", claim("a")); err != nil {
		t.Fatal(err)
	}
	var n int64
	if err := s.read.Model(&AuditEvent{}).Where("turn_id = ?", in.TurnID).Count(&n).Error; err != nil || n != 1 {
		t.Fatalf("%d %v", n, err)
	}
	if s.write.Exec("UPDATE audit_events SET kind = 'x'").Error == nil || s.write.Exec("DELETE FROM audit_events").Error == nil {
		t.Fatal("the trail could be changed")
	}
}

func TestLeases(t *testing.T) {
	s := openStore(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	take := func(holder string) (ConsoleLease, bool) {
		lease, taken, err := s.TakeLease(t.Context(), "h:1", holder, "who "+holder, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return lease, taken
	}
	first, ok := take("a")
	if !ok {
		t.Fatal("a free console isn't given")
	}
	if lease, ok := take("b"); ok || lease.Who != "who a" {
		t.Fatalf("two holders: %+v", lease)
	}
	if lease, ok := take("a"); !ok || lease.Fence != first.Fence {
		t.Fatalf("the holder can't renew: %+v", lease)
	}
	now = now.Add(2 * time.Minute)
	if lease, ok := take("b"); !ok || lease.Fence <= first.Fence {
		t.Fatalf("a lease that has ended: %+v", lease)
	}
	if err := s.DropLease(t.Context(), "h:1", "a"); err != nil { // not the holder's
		t.Fatal(err)
	}
	if _, ok := take("c"); ok {
		t.Fatal("somebody else gave the console back")
	}
	if err := s.DropLease(t.Context(), "h:1", "b"); err != nil {
		t.Fatal(err)
	}
	if _, ok := take("c"); !ok {
		t.Fatal("a console that was given back isn't free")
	}
}

func TestC17TheFirstWordStandsUntilTheDeadline(t *testing.T) {
	s := openStore(t)
	in := input("ada", "p", "s", "x")
	begin(t, s, in)
	deadline := time.Now().Add(time.Minute)
	a := Approval{HITLSessionID: "h", TurnID: in.TurnID, ToolCallID: "c1", Step: 1, SessionKey: in.SessionKey, SessionID: "s", UserID: "ada",
		ProjectID: "p", ToolName: "t", Danger: schema.DangerMedium, Required: 1, ExpiresAt: deadline}
	for range 2 {
		if err := s.AddApprovals(t.Context(), []Approval{a}); err != nil {
			t.Fatal(err)
		}
	}
	word := func(id string, action schema.DecisionAction, at time.Time) schema.DecidedCall {
		row := DecisionRow{ID: id, HITLSessionID: "h", Action: action, CallIDs: []string{"c1"}, DecidedBy: id, DeciderName: id, DecidedAt: at}
		if _, err := s.PutDecision(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		var out schema.RecordDecisionOutput
		for range 2 { // an activity may run twice
			var err error
			if out, err = s.Decide(t.Context(), in.TurnRef, 1, schema.Decision{ID: id, DecidedAt: at}, ""); err != nil || len(out.Calls) != 1 {
				t.Fatalf("%+v %v", out, err)
			}
		}
		return out.Calls[0]
	}
	if c := word("late", schema.DecideConfirm, deadline); c.Applied || c.State != schema.ApprovalPending {
		t.Errorf("a word at the deadline: %+v", c)
	}
	if c := word("bob", schema.DecideReject, deadline.Add(-time.Second)); !c.Applied || c.State != schema.ApprovalRejected {
		t.Errorf("%+v", c)
	}
	if c := word("eve", schema.DecideConfirm, deadline.Add(-time.Second)); c.Applied || c.State != schema.ApprovalRejected {
		t.Errorf("a second word: %+v", c)
	}
	ended, err := s.EndApprovals(t.Context(), schema.ExpireInput{TurnRef: in.TurnRef, Step: 1, Calls: []string{"c1"}, State: schema.ApprovalExpired})
	if err != nil || len(ended) != 0 {
		t.Errorf("a decided call expired: %+v %v", ended, err)
	}
	rows, err := s.Approvals(t.Context(), in.TurnRef, 1)
	if err != nil || len(rows) != 1 || rows[0].DeciderName != "bob" {
		t.Errorf("%+v %v", rows, err)
	}
}

func claim(lines ...string) Claim {
	return Claim{Kind: KindDevice, Device: "R1", NodeID: "n1", Lines: lines}
}
