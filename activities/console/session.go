package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"gns3copilot/schema"
)

const (
	// recentLines and recentWidth bound the excerpt of the device's last output that error messages show.
	recentLines = 4
	recentWidth = 100
	// returnLimit bounds the way back to the base prompt after an interrupted command. VPCS looks at Ctrl-C only when an
	// ARP request of 3 seconds is over.
	returnLimit = 5 * time.Second
)

// errLimit says that a wait ran out of time.
var errLimit = errors.New("time limit reached")

// session is one logged-on console. It belongs to one goroutine at a time.
type session struct {
	target  Target
	options Options
	known   catalog
	log     *slog.Logger

	link     *link
	screen   screen
	platform *platform // nil until the first prompt
	prompt   *prompt   // nil until it is learned
	enter    string    // the form of Enter in use
	proven   bool      // that form has run a command
	note     string    // what the user should know about the device
	barred   string    // what keeps us at the user level, for messages; "" when nothing is known to
	reply    *reply    // the running command's; nil between commands
	ran      int       // commands whose Enter was pressed, and lines of a Push that were begun
	broken   bool      // the console is not at its prompt, or gone
	restarts bool      // the device took a confirmation, and no prompt came back
	boots    bool      // the device was restarted before this connection, so that no key may interrupt it
	at       string    // the last prompt seen; "" while the device wants text without a prompt
	base     *prompt   // the prompt outside of configuration mode, during a Push
	received int       // bytes of text so far
	parkedAt int       // received when it was last put aside
	lines    int       // finished lines so far: tells a new prompt from one that stood there before
	recent   [recentLines][]byte
}

// verdict is what a wait was waiting for.
type verdict int

const (
	waiting verdict = iota
	atPrompt
	splitPrompt // a prompt that a message of the device's own has cut or pushed away
	atPager
	atQuestion
	newPrompt // looks like a prompt, but not the learned one
	echoed
	notEntered // the line stands there, as if Enter had not been pressed
	helpShown
	atDialog // IOS's initial configuration dialog
	atAutoinstall
	atBoot    // what only a boot shows, after a confirmation
	textTaken // a line of a text block, which no prompt follows
	atDeadEnd // a login, a setup or a boot loader: nothing that keys of ours get past
	goesOn    // a command that somebody left running, and that goes on until it is interrupted
	quietNow  // nothing more arrives
)

// newSession wraps a fresh connection.
func newSession(t Target, o Options, known catalog, l *link) *session {
	s := &session{target: t, options: o, known: known, link: l, enter: "\r",
		log: o.Logger.With("device", t.Device, "address", t.Address)}
	s.screen.finish = s.finishLine
	return s
}

// finishLine takes each finished line from the screen.
func (s *session) finishLine(line []byte) {
	slot := &s.recent[s.lines%recentLines]
	*slot = append((*slot)[:0], line[:min(len(line), recentWidth)]...)
	s.lines++
	if s.reply != nil {
		s.reply.line(line)
		return
	}
	if log := s.platform.logStart(line); log >= 0 {
		line = line[:log]
	}
	s.see(line)
}

// await reads from the console until judge has a verdict and, where judge asks for a quiet time, nothing has arrived for
// that long. It fails with errLimit, errClosed or the context's error.
func (s *session) await(ctx context.Context, limit time.Duration, judge func() (verdict, time.Duration)) (verdict, error) {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return waiting, err
		}
		v, quiet := judge()
		if v != waiting && quiet == 0 {
			return v, nil
		}
		var settled <-chan time.Time
		if v != waiting {
			settled = time.After(quiet)
		}
		select {
		case chunk, open := <-s.link.chunks:
			if !open {
				return waiting, s.ended()
			}
			s.take(chunk)
		case <-settled:
			return v, nil
		case <-deadline.C:
			return waiting, errLimit
		case <-ctx.Done():
			return waiting, ctx.Err()
		}
	}
}

// foreign tells whether somebody else has typed: what stands there is neither a prompt nor a message of the device's own that is just coming.
// It fails with errClosed.
func (s *session) foreign(ctx context.Context) (bool, error) {
	nothing := func() bool { return s.current() == "" || s.prompt.matches(s.current()) }
	if nothing() {
		return false, nil
	}
	_, err := s.await(ctx, foreignLimit, func() (verdict, time.Duration) {
		if nothing() {
			return atPrompt, 0
		}
		return quietNow, settleQuiet
	})
	if errors.Is(err, errClosed) {
		return false, err
	}
	return !nothing(), nil
}

// drain takes what has arrived already, so that it isn't taken for an answer to what comes next.
func (s *session) drain() error {
	for {
		select {
		case chunk, open := <-s.link.chunks:
			if !open {
				return s.ended()
			}
			s.take(chunk)
		default:
			return nil
		}
	}
}

func (s *session) take(chunk []byte) {
	s.received += len(chunk)
	if r := s.reply; r != nil && r.phase == typing && len(r.echo) <= 4*len(r.command) {
		r.echo = append(r.echo, chunk...)
	}
	s.screen.write(chunk)
	if s.reply == nil {
		s.see(s.screen.current())
	}
}

// see remembers a prompt: a message of the device's own may push it out of the unfinished line. It is asked between
// commands only, where no output can look like one.
func (s *session) see(line []byte) {
	if s.prompt.matches(string(line)) {
		s.at = string(line)
	}
}

// ended is the error of a connection that is over.
func (s *session) ended() error {
	s.broken = true
	if errors.Is(s.link.err, errClosed) {
		return errClosed
	}
	return fmt.Errorf("%w: %w", errClosed, s.link.err)
}

// current is the unfinished line.
func (s *session) current() string { return string(s.screen.current()) }

// standing is the prompt that the device waits at, also when its own messages have pushed it away.
func (s *session) standing() string {
	if current := s.current(); s.prompt.matches(current) {
		return current
	}
	return s.at
}

// level is the mode that the console is in, nil when the prompt tells none.
func (s *session) level() *level { return s.platform.levelOf(s.standing()) }

// promptAfter judges that the learned prompt has come since now: on a newer line, or on this one if it doesn't show it yet.
func (s *session) promptAfter() func() (verdict, time.Duration) {
	line, before := s.lines, s.current()
	return func() (verdict, time.Duration) {
		current, quiet := s.current(), time.Duration(0)
		if s.lines <= line {
			if strings.HasPrefix(before, current) {
				return waiting, 0
			}
			quiet = promptQuiet // the command may have brought it by itself, and the key another one
		}
		if !s.prompt.matches(current) {
			if !s.base.matches(current) {
				return waiting, 0
			}
			s.prompt = s.base
		}
		s.at = current
		return atPrompt, quiet
	}
}

// backToPrompt presses keys until the base prompt comes, within returnLimit and whatever has happened to the command's own
// context. When it doesn't come, the session is of no more use.
func (s *session) backToPrompt(ctx context.Context, keys []string) bool {
	ctx = context.WithoutCancel(ctx)
	if s.prompt.matches(s.current()) && !strings.Contains(keys[0], keyInterrupt) {
		// Most likely nothing runs any more, and a key that only interrupts is not answered.
		keys = append([]string{keyInterrupt}, keys...)
	}
	for _, key := range keys {
		arrived := s.promptAfter()
		if s.link.typeKeys(key) != nil {
			break
		}
		_, err := s.await(ctx, returnLimit/time.Duration(len(keys)), arrived)
		if err == nil {
			return true
		}
		if !errors.Is(err, errLimit) {
			break
		}
	}
	s.broken = true
	return false
}

// home leaves the console at the level it is to be found in, out of a configuration mode for example.
func (s *session) home(ctx context.Context) error {
	for range len(s.platform.levels) {
		level := s.level()
		if level == nil || level.name == s.platform.desired || level.down == "" || level.previous == "" {
			return nil
		}
		if desired := s.platform.level(s.platform.desired); level.name == desired.previous {
			return nil // below it: going up is the business of sync
		}
		if out, err := s.command(ctx, level.down, s.options.PromptTimeout); err != nil {
			return err
		} else if out.Err != nil {
			return out.Err
		}
	}
	return nil
}

// close ends the connection in order.
func (s *session) close() { s.link.close() }

// lastOutput is a short excerpt of what the device said last, for messages: its lines in one.
func (s *session) lastOutput() string {
	var lines []string
	for i := max(0, s.lines-recentLines); i < s.lines; i++ {
		lines = append(lines, maskSecret(string(s.recent[i%recentLines])))
	}
	current := s.current()
	lines = append(lines, maskSecret(current[:min(len(current), recentWidth)]))
	return strings.ToValidUTF8(inOneLine(strings.Join(lines, "\n")), "?")
}

// inOneLine joins the lines of a text, for messages. Blank ones are left out.
func inOneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " / ")
}

// failure makes a domain error about this device. The message names the device, the address and its last output.
func (s *session) failure(code schema.Code, format string, args ...any) *schema.Error {
	message := fmt.Sprintf("%s (%s) %s.", s.target.Device, s.target.Address, fmt.Sprintf(format, args...))
	if last := s.lastOutput(); last != "" {
		message += " Its last output: " + last
	} else {
		message += " It sent no text."
	}
	return &schema.Error{Code: code, Message: message}
}

// closed is the failure of a connection that ended while something was under way.
func (s *session) closed(err error, during string) *schema.Error {
	return s.failure(schema.CodeConsoleClosed, "closed its console %s", during).WithCause(err).
		WithHint("Check that the node still runs and that nobody else took its console, then try again.")
}
