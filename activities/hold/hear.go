package hold

import "context"

// Hear has listen called, with the token of a turn that is held, for as long as there is one: it is to listen to what the GNS3 server says
// of all projects, and is called again when it returns before its ctx has ended. When it has a login of its own it is called without a
// token, whether there are turns or not. Hear is called once, before Run or while it runs; listen is called by Run's goroutines.
func (h *Holder) Hear(listen func(ctx context.Context, token string) error, ownLogin bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hear, h.ownLogin = listen, ownLogin
	if h.running != nil {
		h.hearAll()
	}
}

// hearAll begins to listen to everything. h.mu is locked.
func (h *Holder) hearAll() {
	switch {
	case h.hear == nil:
	case h.ownLogin:
		h.begin(h.running, &project{id: everything, listen: h.hear, own: true}, 0)
	default:
		for _, t := range h.held {
			h.join(h.running, everything, t, h.hear)
		}
	}
}

// runs notes that Run does, and begins to hear.
func (h *Holder) runs(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = ctx
	h.hearAll()
}

// rests notes that nothing is begun any more.
func (h *Holder) rests() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = nil
}
