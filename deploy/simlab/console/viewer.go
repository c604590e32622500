package console

import (
	"io"
	"sync"
)

// maxPending is how many bytes of output may wait for one client; one that is further behind is disconnected.
const maxPending = 1 << 20

// viewer is one client: the output that still waits for it.
type viewer struct {
	mu      sync.Mutex
	changed *sync.Cond
	pending []byte
	ended   bool
}

func newViewer() *viewer {
	v := &viewer{}
	v.changed = sync.NewCond(&v.mu)
	return v
}

// show queues output. It never blocks: a slow client must not slow the device or the others.
func (v *viewer) show(p []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return
	}
	if len(v.pending)+len(p) > maxPending {
		v.ended, v.pending = true, nil
	} else {
		v.pending = append(v.pending, p...)
	}
	v.changed.Signal()
}

// end lets deliver return once everything queued so far is written.
func (v *viewer) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	v.changed.Signal()
}

// deliver writes output to the client until the viewer ends or the client is gone.
func (v *viewer) deliver(w io.Writer) {
	for {
		data, more := v.take()
		if len(data) > 0 {
			if _, err := w.Write(data); err != nil {
				return
			}
		}
		if !more {
			return
		}
	}
}

// take waits for output. It reports false when nothing will follow.
func (v *viewer) take() ([]byte, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.pending) == 0 && !v.ended {
		v.changed.Wait()
	}
	data := v.pending
	v.pending = nil
	return data, !v.ended
}
