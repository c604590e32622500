// Package terminal is the line discipline between a console and the program of a device: echo, line editing, history,
// type-ahead, waiting that a key can interrupt, and the pager. One goroutine, the device's, uses a Terminal.
package terminal

import (
	"context"
	"io"
	"strings"
	"time"
)

// Control keys.
const (
	keyCtrlC     = 0x03
	keyBackspace = 0x08
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
	port    Port
	opt     Options
	ahead   []byte
	afterCR bool
	history []string
	notices []string
	ready   chan struct{}
	isReady bool
}

// New makes a terminal on a console.
func New(port Port, opt Options) *Terminal {
	if opt.Pace == 0 {
		opt.Pace = 1
	}
	if opt.Faults == nil {
		opt.Faults = &Faults{}
	}
	return &Terminal{port: port, opt: opt, ready: make(chan struct{})}
}

// Ready is closed when the device has started and waits for a key for the first time.
func (t *Terminal) Ready() <-chan struct{} { return t.ready }

// Print writes text; each \n becomes CR LF.
func (t *Terminal) Print(text string) {
	// The console's Write can't fail.
	_, _ = io.WriteString(t.port, strings.ReplaceAll(text, "\n", "\r\n"))
}

// Notify keeps a line, such as a log message, until a prompt stands on the screen, and shows it then: a real device logs a
// moment after its prompt. The prompt is drawn again after it.
func (t *Terminal) Notify(text string) { t.notices = append(t.notices, text) }

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

// next gives the next byte typed. The LF or NUL that follows a CR belongs to the same Enter and is skipped.
func (t *Terminal) next(ctx context.Context) (byte, error) {
	for {
		b, err := t.rawNext(ctx)
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

func (t *Terminal) rawNext(ctx context.Context) (byte, error) {
	if !t.isReady {
		t.isReady = true
		close(t.ready)
	}
	if len(t.ahead) > 0 {
		b := t.ahead[0]
		t.ahead = t.ahead[1:]
		return b, nil
	}
	select {
	case b := <-t.port.Input():
		return b, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
