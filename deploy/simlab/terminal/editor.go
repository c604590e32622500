package terminal

import (
	"context"
	"strings"
)

// maxLine is how long a line can get: more is answered with the bell and forgotten, so that an endless one costs nothing.
const maxLine = 1024

// bell is what a terminal makes a sound for.
const bell = "\a"

// Key is what ended a line.
type Key int

// The ways to end a line.
const (
	Enter Key = iota
	Interrupt
	EndOfInput // Ctrl-Z
)

// Line says how a line is read.
type Line struct {
	Prompt string
	// Redraw is the prompt as it is drawn again after a notice or help; Prompt when empty.
	Redraw string
	// Help, when set, is called on "?" with what is typed so far; its text is shown and the line goes on.
	Help func(typed string) string
	// Complete, when set, is called on Tab with what is typed so far and gives what it stands for.
	Complete func(typed string) string
	// CtrlZ lets Ctrl-Z end the line.
	CtrlZ bool
	// Hidden takes a password: nothing is echoed.
	Hidden bool
}

// editor is the line being typed. The cursor is always at its end.
type editor struct {
	t      *Terminal
	line   Line
	text   []byte
	recall int // position in the history while the arrow keys walk it
}

// ReadCommand reads a command line and does everything that is due between a command and its answer.
func (t *Terminal) ReadCommand(ctx context.Context, l Line) (string, Key, error) {
	text, key, err := t.ReadLine(ctx, l)
	if err != nil || strings.TrimSpace(text) == "" || key == Interrupt {
		return text, key, err
	}
	t.history = append(t.history, text)
	if t.opt.Typed != nil {
		t.opt.Typed(text)
	}
	fault, drop, hush := t.opt.Faults.onCommand()
	if drop {
		t.port.Drop()
	}
	if hush {
		t.port.Mute(true)
	}
	t.interject = fault.Interject
	if fault.Noise != "" {
		t.Print(fault.Noise + "\n")
	}
	if delay := t.opt.Delay + fault.Slow; delay > 0 {
		// Real time: a fault is asked for in seconds, whatever the lab's pace.
		err = t.Hold(ctx, unscaled(delay, t.opt.Pace))
	}
	return text, key, err
}

// ReadLine shows the prompt and reads a line with echo and editing.
func (t *Terminal) ReadLine(ctx context.Context, l Line) (string, Key, error) {
	if l.Redraw == "" {
		l.Redraw = l.Prompt
	}
	e := &editor{t: t, line: l, recall: len(t.history)}
	t.interject = ""
	t.Print(l.Prompt)
	show := e.interrupt
	if l.Hidden {
		show = nil
	}
	for {
		b, err := t.next(ctx, show)
		if err != nil {
			return "", Enter, err
		}
		if slow := t.opt.Faults.slowEcho(); slow > 0 {
			if err := t.Hold(ctx, unscaled(slow, t.opt.Pace)); err != nil {
				return "", Enter, err
			}
		}
		if b == keyEscape {
			if err := e.escape(ctx); err != nil {
				return "", Enter, err
			}
			continue
		}
		if key, done := e.key(b); done {
			return string(e.text), key, nil
		}
	}
}

// interrupt shows notices and draws the line again below each.
func (e *editor) interrupt(notices []string) {
	for _, notice := range notices {
		e.t.Print("\n" + notice + "\n" + e.line.Redraw + string(e.text))
	}
}

// key handles one key and reports whether it ended the line.
func (e *editor) key(b byte) (Key, bool) {
	style := e.t.opt.Style
	switch {
	case b == keyCR || b == keyLF:
		// VPCS leaves the new line to the command, or to the next prompt.
		if !style.HostTTY {
			e.t.Print("\n")
		}
		return Enter, true
	case b == keyCtrlC:
		// A Unix terminal's line is dropped without a trace; a router shows that it was.
		if !style.HostTTY {
			e.t.Print("^C\n")
		}
		e.text = nil
		return Interrupt, true
	case b == keyCtrlZ && e.line.CtrlZ:
		e.t.Print("^Z\n")
		return EndOfInput, true
	case b == keyBackspace || b == keyDelete:
		e.erase(1)
	case b == keyCtrlU && style.Rubout:
		e.erase(len(e.text))
	case b == keyCtrlW && style.Rubout:
		e.erase(len(e.text) - wordStart(e.text))
	case b == '?' && e.line.Help != nil:
		e.t.Print("?\n" + e.line.Help(string(e.text)) + e.line.Redraw + string(e.text))
	case b == keyTab && e.line.Complete != nil:
		e.text = []byte(e.line.Complete(string(e.text)))
		e.t.Print("\n" + e.line.Redraw + string(e.text))
	case b >= ' ' && len(e.text) >= maxLine:
		e.t.Print(bell)
	case b >= ' ':
		e.text = append(e.text, b)
		e.echo(string([]byte{b}))
	}
	return Enter, false
}

// echo shows what is typed, unless it is a secret.
func (e *editor) echo(text string) {
	if !e.line.Hidden {
		e.t.Print(text)
	}
}

// escape handles the arrow keys; other sequences are swallowed.
func (e *editor) escape(ctx context.Context) error {
	b, err := e.t.next(ctx, nil)
	if err != nil || (b != '[' && b != 'O') {
		return err
	}
	for {
		b, err = e.t.next(ctx, nil)
		if err != nil {
			return err
		}
		if b >= '@' && b <= '~' {
			break
		}
	}
	switch history := e.t.history; {
	case b == 'A' && e.recall > 0:
		e.recall--
		e.replace(history[e.recall])
	case b == 'B' && e.recall < len(history)-1:
		e.recall++
		e.replace(history[e.recall])
	}
	return nil
}

// replace puts another text on the line, as the arrow keys do.
func (e *editor) replace(text string) {
	e.erase(len(e.text))
	e.text = []byte(text)
	e.echo(text)
}

// erase wipes characters at the end, on the screen too.
func (e *editor) erase(n int) {
	n = min(n, len(e.text))
	e.text = e.text[:len(e.text)-n]
	e.echo(strings.Repeat("\b \b", n))
}

// wordStart is where the last word of a line begins.
func wordStart(text []byte) int {
	trimmed := strings.TrimRight(string(text), " ")
	return strings.LastIndexByte(trimmed, ' ') + 1
}

// AwaitReturn waits for a carriage return and echoes nothing, as a router does after "Press RETURN to get started".
func (t *Terminal) AwaitReturn(ctx context.Context) error {
	show := func(notices []string) {
		for _, notice := range notices {
			t.Print("\n" + notice + "\n")
		}
	}
	for {
		b, err := t.next(ctx, show)
		if err != nil || b == keyCR {
			return err
		}
	}
}
