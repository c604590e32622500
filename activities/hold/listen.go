package hold

import (
	"context"
	"time"

	"gns3copilot/schema"
)

// hold listens to a project, or to everything, after a first wait, until ctx ends.
func (h *Holder) hold(ctx context.Context, p *project, first time.Duration) {
	if !pause(ctx, first, nil) {
		return
	}
	refused := map[string]bool{} // logins, by their tokens; the account has none
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		begun := time.Now()
		token, listen := h.login(p, refused)
		next, news := deniedWait, (<-chan struct{})(p.news)
		if listen != nil {
			err := listen(ctx)
			if ctx.Err() != nil {
				return
			}
			if time.Since(begun) > lastWait { // it was held until then
				wait = firstWait
			}
			if wait == firstWait { // the tries that follow would say the same
				h.log.WarnContext(ctx, p.missed(), "project", p.id, "error", err)
			}
			if schema.CodeOf(err) != schema.CodeGNS3Unavailable {
				refused[token] = true // another's may do
				continue
			}
			next, news = wait, nil
		}
		if !pause(ctx, next, news) {
			return
		}
		clear(refused)
	}
}

// login is what to listen with now, and how: a turn's token before the account, and nothing that was refused. Without one listen is nil.
func (h *Holder) login(p *project, refused map[string]bool) (token string, listen func(context.Context) error) {
	token = h.token(p, refused)
	switch {
	case token == "" && refused[token]:
		return "", nil
	case token != "" || p.own:
		return token, func(ctx context.Context) error { return p.listen(ctx, token) }
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.account == nil || p.id == everything {
		return "", nil
	}
	account := h.account
	return "", func(ctx context.Context) error { return account.Listen(ctx, p.id) }
}

// missed is what doesn't happen while there is no connection, for the log.
func (p *project) missed() string {
	if p.id == everything {
		return "deleted projects not heard of"
	}
	return "project not held"
}

// token is the newest of the project's turns that wasn't refused, "" when none of them has one.
func (h *Holder) token(p *project, refused map[string]bool) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-p.news: // this is what it says
	default:
	}
	var newest turn
	for _, t := range p.turns {
		if !t.doubted && !refused[t.Token] && t.Until.After(newest.Until) {
			newest = *t
		}
	}
	return newest.Token
}

// look reads the rows of turns whose token is gone, and now and then those of all, and releases those that are over.
func (h *Holder) look(ctx context.Context) {
	all := time.NewTicker(lookEvery)
	defer all.Stop()
	for {
		select {
		case <-h.doubts:
			h.check(ctx, true)
		case <-h.lost:
			h.adopt(ctx)
		case <-all.C:
			h.check(ctx, false)
		case <-ctx.Done():
			return
		}
	}
}

// check releases the turns that are over, of those that are doubted or of all.
func (h *Holder) check(ctx context.Context, doubted bool) {
	h.mu.Lock()
	var some []*turn
	for _, t := range h.held {
		if t.doubted || !doubted {
			some = append(some, t)
		}
	}
	h.mu.Unlock()
	for _, t := range some {
		over := h.over(ctx, t)
		h.mu.Lock()
		if over && h.held[t.TurnID] == t {
			h.release(t)
		}
		h.mu.Unlock()
	}
}

// over tells whether a turn needs no lab any more. Of one whose row can't be read that isn't known.
func (h *Holder) over(ctx context.Context, t *turn) bool {
	h.mu.Lock()
	ref, until, doubted := t.TurnRef, t.Until, t.doubted
	h.mu.Unlock()
	if time.Now().After(until) {
		return true
	}
	row, err := h.turns.Turn(ctx, ref)
	if err != nil {
		// A turn that has only been asked for has no row yet, but it has its token.
		return doubted && schema.CodeOf(err) == schema.CodeNotFound
	}
	return row.State.Over()
}
