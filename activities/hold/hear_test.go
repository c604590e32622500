package hold

import (
	"context"
	"testing"
	"time"

	"gns3copilot/schema"
)

// hearing runs a holder whose listener to everything shows as one of the project "all", with the login of its own if it has one.
func hearing(t *testing.T, login string, play func(world)) {
	run(t, nil, func(w world) {
		w.tell(kept("early", "p", "token"))
		w.after(2*settle, "p/token")
		w.holder.Hear(func(ctx context.Context, token string) error { return w.Listen(ctx, token+login, "all") }, login != "")
		play(w)
	})
}

func TestHearsWithATurnsToken(t *testing.T) {
	hearing(t, "", func(w world) {
		w.after(0, "all/token", "p/token") // of a turn that was there before
		w.tell(kept("late", "q", "newer"))
		w.after(2*settle, "all/token", "p/token", "q/newer")
		w.set("early", schema.TurnDone)
		w.tell(gone("early"))
		w.after(0, "all/token", "q/newer")
		w.set("late", schema.TurnDone)
		w.tell(gone("late"))
		w.after(0) // nobody's login is used when no turn runs
		w.tell(kept("next", "p", "third"))
		w.after(2*settle, "all/third", "p/third")
	})
}

func TestHearsWithItsOwnLogin(t *testing.T) {
	hearing(t, "account", func(w world) {
		w.after(0, "all/account", "p/token")
		w.set("early", schema.TurnDone)
		w.tell(gone("early"))
		w.after(time.Hour, "all/account")
		w.breakOff()
		w.after(2*firstWait, "all/account")
	})
}
