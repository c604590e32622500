package simlab

import "sync"

// event is a line of the notification stream.
type event struct {
	Action string `json:"action"`
	Event  any    `json:"event"`
}

// maxEvents is how many events may wait for a listener; more are lost for it.
const maxEvents = 64

// hub passes a project's events to those who listen.
type hub struct {
	mu        sync.Mutex
	listeners map[chan event]struct{}
}

// subscribe gives a channel of events; leave ends it.
func (h *hub) subscribe() (events <-chan event, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan event, maxEvents)
	if h.listeners == nil {
		h.listeners = map[chan event]struct{}{}
	}
	h.listeners[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, c)
	}
}

// publish never waits for a listener.
func (h *hub) publish(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.listeners {
		select {
		case c <- e:
		default:
		}
	}
}

// heard reports whether anybody listens.
func (h *hub) heard() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0
}
