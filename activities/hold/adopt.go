package hold

import (
	"context"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
)

// Account is a GNS3 account of the server's own. Listen is Lab's with its login.
type Account interface {
	Listen(ctx context.Context, projectID string) error
}

// mostOld is how long ago an adopted turn may have begun: as long as a token would be kept.
const mostOld = 24 * time.Hour

// Adopt has the projects of turns whose token is lost held with an account, now and whenever NATS has lost the tokens. open lists the turns
// that aren't over, by the database. Adopt is called once, before Run or while it runs.
func (h *Holder) Adopt(account Account, open func(ctx context.Context, since time.Time) ([]store.Turn, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.account, h.open = account, open
	signal(h.lost)
	for _, p := range h.projects { // those that wait for a token
		signal(p.news)
	}
}

// adopt holds the projects of the turns that have no token.
func (h *Holder) adopt(ctx context.Context) {
	h.mu.Lock()
	open := h.open
	h.mu.Unlock()
	if open == nil {
		return
	}
	turns, err := open(ctx, time.Now().Add(-mostOld))
	if err != nil {
		if ctx.Err() == nil {
			h.log.WarnContext(ctx, "projects of turns without a login not held", "error", err)
		}
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, row := range turns {
		if h.held[row.ID] != nil {
			continue
		}
		ref := schema.TurnRef{TurnID: row.ID, SessionKey: row.SessionKey, ProjectID: row.ProjectID, UserID: row.UserID}
		t := &turn{Kept: vault.Kept{TurnRef: ref, Until: row.StartedAt.Add(mostOld)}, from: time.Now(), doubted: true, seen: true}
		h.held[row.ID] = t
		h.add(ctx, t)
	}
}
