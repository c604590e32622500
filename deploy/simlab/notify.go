package simlab

import (
	"context"
	"sync"
)

// event is a line of the notification stream.
type event struct {
	Action string `json:"action"`
	Event  any    `json:"event"`
}

// maxEvents is how many events may wait for a listener. One that is further behind is cut off, so that it knows that it has lost
// some: reading the project again is better than a picture that silently stays wrong.
const maxEvents = 1024

// hub passes a project's events to those who listen.
type hub struct {
	mu        sync.Mutex
	listeners map[chan event]context.CancelFunc
}

// subscribe gives a channel of events; leave ends it, and cut is called when too many of them wait.
func (h *hub) subscribe(cut context.CancelFunc) (events <-chan event, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan event, maxEvents)
	if h.listeners == nil {
		h.listeners = map[chan event]context.CancelFunc{}
	}
	h.listeners[c] = cut
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
	for c, cut := range h.listeners {
		select {
		case c <- e:
		default:
			delete(h.listeners, c)
			cut()
		}
	}
}

// heard is how many listen.
func (h *hub) heard() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners)
}
