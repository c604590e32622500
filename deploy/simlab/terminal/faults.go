package terminal

import (
	"sync"
	"time"
)

// Fault is a defect to be played on one device, for tests. The zero value is a healthy device.
type Fault struct {
	// Slow is added to the wait before each command's answer.
	Slow time.Duration
	// Silent makes the console dead in both directions while it still accepts connections.
	Silent bool
	// DropAfter cuts every connection when the n-th command line from now has been received: the device carries it out and
	// nobody sees the answer. Zero never cuts; it happens once.
	DropAfter int
	// Noise is printed, as a line of its own, before each command's answer.
	Noise string
}

// Faults holds the Fault that a device's terminals obey, across power cycles.
type Faults struct {
	mu      sync.Mutex
	current Fault
}

// Set replaces the fault.
func (f *Faults) Set(v Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = v
}

// Silent reports whether the device is to be silent.
func (f *Faults) Silent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current.Silent
}

// onCommand gives the fault for a command line just received, and whether it is the one that drops the connections.
func (f *Faults) onCommand() (now Fault, drop bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now = f.current
	if f.current.DropAfter > 0 {
		f.current.DropAfter--
		drop = f.current.DropAfter == 0
	}
	return now, drop
}
