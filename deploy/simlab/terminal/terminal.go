// Package terminal is the line discipline between a console and the program of a device: echo, line editing, history,
// type-ahead, waiting that a key can interrupt, and the pager. One goroutine, the device's, uses a Terminal.
package terminal

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"
)

// Control keys.
const (
	keyCtrlC     = 0x03
	keyBackspace = 0x08
	keyTab       = '\t'
	keyLF        = '\n'
	keyCR        = '\r'
	keyCtrlU     = 0x15
	keyCtrlW     = 0x17
	keyCtrlZ     = 0x1a
	keyEscape    = 0x1b
	keyCtrlCaret = 0x1e
	keyDelete    = 0x7f
)

// maxAhead is how many bytes typed during a command are kept for the next prompt.
const maxAhead = 64 << 10

// Port is the console behind the terminal.
type Port interface {
	io.Writer
	Input() <-chan byte
	Drop()
	Mute(bool)
}

// Style is what differs between kinds of devices.
type Style struct {
	// Interrupts are the keys that stop a running command.
	Interrupts string
	// HostTTY says that a Unix terminal sits in front: it echoes at once what is typed while a command runs, and ^C for the
	// interrupt key.
	HostTTY bool
	// Rubout lets Ctrl-U and Ctrl-W erase; VPCS ignores them.
	Rubout bool
}

// IOS is the style of a router.
func IOS() Style { return Style{Interrupts: string([]byte{keyCtrlC, keyCtrlCaret}), Rubout: true} }

// VPCS is the style of a VPCS host.
func VPCS() Style { return Style{Interrupts: string([]byte{keyCtrlC}), HostTTY: true} }

// Options are a terminal's settings.
type Options struct {
	Style Style
	// Typed is told each command line when it has been received and before it has any effect.
	Typed func(line string)
	// Delay is waited between a command line and its answer.
	Delay time.Duration
	// Pace multiplies every wait of Pause; zero means 1.
	Pace float64
	// Faults may be nil.
	Faults *Faults
}

// Terminal is a device's terminal.
type Terminal struct {
	port      Port
	opt       Options
	ahead     []byte
	afterCR   bool
	history   []string
	ready     chan struct{}
	isReady   bool
	interject string // printed after the next line of output

	mu      sync.Mutex // notices come from other goroutines, too
	notices []string
	wake    chan struct{}
}

// New makes a terminal on a console.
func New(port Port, opt Options) *Terminal {
	if opt.Pace == 0 {
		opt.Pace = 1
	}
	if opt.Faults == nil {
		opt.Faults = &Faults{}
	}
	return &Terminal{port: port, opt: opt, ready: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// Ready is closed when the device has started and waits for a key for the first time.
func (t *Terminal) Ready() <-chan struct{} { return t.ready }

// Print writes text; each \n becomes CR LF.
func (t *Terminal) Print(text string) {
	if t.interject != "" {
		if before, after, found := strings.Cut(text, "\n"); found {
			text = before + "\n" + t.interject + "\n" + after
			t.interject = ""
		}
	}
	// The console's Write can't fail.
	_, _ = io.WriteString(t.port, strings.ReplaceAll(text, "\n", "\r\n"))
}

// Notify shows a line, such as a log message, as soon as the device waits for a key: a real device logs a moment after its
// prompt. What stood on the screen's last line is drawn again after it. Any goroutine may call it.
func (t *Terminal) Notify(text string) {
	t.mu.Lock()
	t.notices = append(t.notices, text)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// takeNotices gives the lines that wait to be shown.
func (t *Terminal) takeNotices() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.notices
	t.notices = nil
	return waiting
}

// Boot gives the state that the device's boot is to end in.
func (t *Terminal) Boot() Boot { return t.opt.Faults.Boot() }

// History gives the command lines so far, oldest first.
func (t *Terminal) History() []string { return t.history }

// Pause waits, at the lab's pace, until the time is over or an interrupt key is typed. Anything else typed is kept for the
// next prompt; an interrupt discards it.
func (t *Terminal) Pause(ctx context.Context, d time.Duration) (interrupted bool, err error) {
	return t.wait(ctx, d, true)
}

// Hold is Pause for work that the device doesn't let anybody interrupt.
func (t *Terminal) Hold(ctx context.Context, d time.Duration) error {
	_, err := t.wait(ctx, d, false)
	return err
}

func (t *Terminal) wait(ctx context.Context, d time.Duration, interruptible bool) (bool, error) {
	timer := time.NewTimer(time.Duration(float64(d) * t.opt.Pace))
	defer timer.Stop()
	for {
		select {
		case b := <-t.port.Input():
			if t.typedAhead(b) && interruptible {
				return true, nil
			}
		case <-timer.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// typedAhead keeps a byte for later and reports whether it is an interrupt, which is not kept.
func (t *Terminal) typedAhead(b byte) bool {
	if strings.IndexByte(t.opt.Style.Interrupts, b) >= 0 {
		t.ahead = nil
		if t.opt.Style.HostTTY {
			t.Print("^C")
		}
		return true
	}
	if len(t.ahead) < maxAhead {
		t.ahead = append(t.ahead, b)
	}
	if t.opt.Style.HostTTY {
		t.Print(ttyEcho(b))
	}
	return false
}

// ttyEcho is how a Unix terminal shows a key.
func ttyEcho(b byte) string {
	switch {
	case b == keyCR || b == keyLF:
		return "\n"
	case b < ' ':
		return "^" + string(rune(b+'@'))
	}
	return string([]byte{b})
}

// Discard waits at the lab's pace and loses what is typed meanwhile, as a device that boots does.
func (t *Terminal) Discard(ctx context.Context, d time.Duration) error {
	err := t.Hold(ctx, d)
	t.ahead = nil
	return err
}

// next gives the next byte typed. The LF or NUL that follows a CR belongs to the same Enter and is skipped. show, which may be
// nil, is called with the notices that arrive meanwhile; without it they wait.
func (t *Terminal) next(ctx context.Context, show func([]string)) (byte, error) {
	for {
		b, err := t.rawNext(ctx, show)
		if err != nil {
			return 0, err
		}
		second := t.afterCR && (b == keyLF || b == 0)
		t.afterCR = b == keyCR
		if !second {
			return b, nil
		}
	}
}

func (t *Terminal) rawNext(ctx context.Context, show func([]string)) (byte, error) {
	if !t.isReady {
		t.isReady = true
		close(t.ready)
	}
	for {
		if waiting := t.waiting(show); len(waiting) > 0 {
			show(waiting)
		}
		if len(t.ahead) > 0 {
			b := t.ahead[0]
			t.ahead = t.ahead[1:]
			return b, nil
		}
		select {
		case b := <-t.port.Input():
			return b, nil
		case <-t.wake:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// waiting takes the notices if they can be shown.
func (t *Terminal) waiting(show func([]string)) []string {
	if show == nil {
		return nil
	}
	return t.takeNotices()
}

// Swallow takes keys without any effect, as a device that hangs does.
func (t *Terminal) Swallow(ctx context.Context) error {
	for {
		if _, err := t.next(ctx, nil); err != nil {
			return err
		}
	}
}

// Flush shows the notices that wait, as a device does that will have no prompt any more.
func (t *Terminal) Flush() {
	for _, notice := range t.takeNotices() {
		t.Print("\n" + notice + "\n")
	}
}
