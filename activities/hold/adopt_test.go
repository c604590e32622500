package hold

import (
	"context"
	"testing"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
)

// account listens as "account", and knows what turns the database has.
type account struct {
	lab   *lab
	turns []store.Turn
}

func (a *account) Listen(ctx context.Context, project string) error {
	return a.lab.Listen(ctx, "account", project)
}

func (a *account) open(_ context.Context, since time.Time) (recent []store.Turn, _ error) {
	for _, t := range a.turns {
		if t.StartedAt.After(since) {
			recent = append(recent, t)
		}
	}
	return recent, nil
}

// TestAdoptsTurnsWithoutTokens lets all tokens be lost: those who run the turns have been killed, and NATS with them.
func TestAdoptsTurnsWithoutTokens(t *testing.T) {
	run(t, nil, func(w world) {
		row := func(id, project string, age time.Duration) store.Turn {
			w.set(id, schema.TurnWaitingApproval)
			return store.Turn{ID: id, ProjectID: project, StartedAt: time.Now().Add(-age)}
		}
		a := &account{lab: w.lab, turns: []store.Turn{row("t1", "p", time.Hour), row("t2", "p", time.Minute), row("t3", "q", 0), row("old", "r", 25*time.Hour)}}
		w.after(time.Hour)
		w.holder.Adopt(a, a.open)
		w.after(0, "p/account", "q/account")
		w.breakOff()
		w.breakOff()
		w.after(2*firstWait, "p/account", "q/account")
		// The owner is back: nothing changes until the connection ends.
		w.tell(kept("t1", "p", "token"))
		w.after(time.Minute, "p/account", "q/account")
		w.set("t1", schema.TurnDone)
		w.set("t2", schema.TurnDone)
		w.tell(gone("t1"))
		w.after(2*lookEvery, "q/account")
		w.set("t3", schema.TurnAborted)
		w.after(2 * lookEvery)
	})
}

// TestTokensComeBeforeTheAccount, which serves when NATS loses them in mid-turn.
func TestTokensComeBeforeTheAccount(t *testing.T) {
	run(t, nil, func(w world) {
		a := &account{lab: w.lab}
		w.holder.Adopt(a, a.open)
		w.tell(kept("t1", "p", "token"))
		w.set("t1", schema.TurnWaitingApproval)
		w.after(2*settle, "p/token")
		a.turns = []store.Turn{{ID: "t2", ProjectID: "q", StartedAt: time.Now()}} // another process's
		w.set("t2", schema.TurnRunning)
		w.lost <- []vault.Kept{}
		w.after(settle, "p/token", "q/account")
		w.breakOff()
		w.breakOff()
		w.after(2*firstWait, "p/account", "q/account")
	})
}

// TestTheAccountComesAfterARefusedToken: a login that has ended without anybody's word is still in the vault.
func TestTheAccountComesAfterARefusedToken(t *testing.T) {
	run(t, nil, func(w world) {
		a := &account{lab: w.lab}
		w.holder.Adopt(a, a.open)
		w.tell(kept("t1", "p", "token"))
		w.set("t1", schema.TurnWaitingApproval)
		w.after(2*settle, "p/token")
		w.answer("token", schema.CodeUnauthorized)
		w.breakOff()
		w.after(2*firstWait, "p/account")
	})
}
