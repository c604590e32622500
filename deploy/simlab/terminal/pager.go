package terminal

import (
	"context"
	"strings"
	"time"
)

// The pager's prompt, and what wipes it from the screen.
const (
	more     = " --More-- "
	wipeMore = "\b\b\b\b\b\b\b\b\b        \b\b\b\b\b\b\b\b\b"
)

// Page prints text, stopping with --More-- each time the screen of that many lines is full; zero lines never stops. At the
// stop Space shows a page, Enter a line, and any other key ends.
func (t *Terminal) Page(ctx context.Context, text string, lines int) error {
	if lines < 2 {
		t.Print(text)
		return nil
	}
	room := lines - 1
	for line := range strings.Lines(text) {
		if room == 0 {
			t.Print(more)
			b, err := t.next(ctx, nil)
			t.Print(wipeMore)
			if err != nil {
				return err
			}
			switch b {
			case ' ':
				room = lines - 1
			case keyCR, keyLF:
				room = 1
			default:
				return nil
			}
		}
		t.Print(line)
		room--
	}
	return nil
}

// Confirm asks and reports whether Enter or y was the answer. Only one key is read.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	t.Print(question)
	b, err := t.next(ctx, nil)
	t.Print("\n")
	return b == keyCR || b == keyLF || b == 'y' || b == 'Y', err
}

// unscaled gives what Hold has to be asked for so that it waits d.
func unscaled(d time.Duration, pace float64) time.Duration {
	return time.Duration(float64(d) / pace)
}
