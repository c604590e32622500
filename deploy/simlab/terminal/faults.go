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
	// SilentAfter makes the console dead when the n-th command line from now has been received, which is carried out. Zero never
	// does; Silent says so afterwards.
	SilentAfter int
	// Noise is printed, as a line of its own, before each command's answer.
	Noise string
	// Interject is printed, as a line of its own, in the middle of each answer: after its first line.
	Interject string
	// SlowEcho is waited before each key has an effect.
	SlowEcho time.Duration
	// Refuse stops listening: those who are connected stay, and nobody else gets in.
	Refuse bool
	// Boot is what a router does at its next boots. It changes nothing until then.
	Boot Boot
}

// Boot is the state that a router's boot ends in.
type Boot int

// The states. VPCS knows only the first.
const (
	BootNormal Boot = iota // "Press RETURN to get started"
	BootDialog             // the question for the initial configuration dialog, as with an empty NVRAM
	BootLogin              // a login is asked for: BootUser with BootPassword
	BootROM                // the ROM monitor, until "boot" or "reset" is typed there
	BootHang               // the boot's first lines, and nothing after them
	BootPrompt             // a prompt at once, without the question for RETURN
)

// What BootLogin asks for.
const (
	BootUser     = "cisco"
	BootPassword = "cisco"
)

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

// Refused reports whether nobody may connect.
func (f *Faults) Refused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current.Refuse
}

// Boot gives the state that a boot is to end in.
func (f *Faults) Boot() Boot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current.Boot
}

func (f *Faults) slowEcho() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current.SlowEcho
}

// onCommand gives the fault for a command line just received, and whether it is the one that drops the connections or
// silences the console.
func (f *Faults) onCommand() (now Fault, drop, hush bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now = f.current
	if f.current.DropAfter > 0 {
		f.current.DropAfter--
		drop = f.current.DropAfter == 0
	}
	if f.current.SilentAfter > 0 {
		f.current.SilentAfter--
		hush = f.current.SilentAfter == 0
		f.current.Silent = f.current.Silent || hush
	}
	return now, drop, hush
}
