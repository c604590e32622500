package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gns3copilot/schema"
)

const (
	// greeting is how long a fresh connection may stay silent before the first key: negotiation and banners come first.
	greeting = 100 * time.Millisecond
	// greeted is the quiet time after the first of it.
	greeted = 30 * time.Millisecond
	// promptQuiet confirms a prompt that isn't learned yet.
	promptQuiet = 60 * time.Millisecond
	// askQuiet confirms a question met on the way.
	askQuiet = 150 * time.Millisecond
	// patience is the quiet time after which the next key is tried.
	patience = 500 * time.Millisecond
	// abortPatience is how long what runs on gets to stop after a key that interrupts it, before the next.
	abortPatience = time.Second
	// bootLines is how much text without a prompt counts as a device that boots. It gets no interrupts: they could stop
	// its boot loader.
	bootLines = 20
	// bootKey is what it gets: Ctrl-U, so that Enter runs nothing, and Enter.
	bootKey = "\x15\r"
	// logOnTries bounds how often something that looked like a prompt may turn out to be none.
	logOnTries = 3
)

// generalWake is for a console of unknown kind. Ctrl-C comes first: unlike Enter it can't run a half-typed line or
// confirm a question, and every platform knows it.
var generalWake = []string{keyInterrupt, "\r", "\r", "\r\000", "\r\n"}

// logOn brings the console from whatever state it is in to the prompt that commands run at, finds out what the device is,
// and prepares the terminal.
func (s *session) logOn(ctx context.Context) error {
	var err error
	for range logOnTries {
		if err = s.wake(ctx); err != nil {
			return err
		}
		if err = s.identify(ctx); err == nil {
			err = s.prepare(ctx)
		}
		if !errors.Is(err, errNoEcho) {
			return err
		}
		s.broken = false
	}
	return err
}

// resume brings a console that was kept open back to its prompt after something was printed on it meanwhile.
func (s *session) resume(ctx context.Context) error {
	if err := s.wake(ctx); err != nil {
		return err
	}
	s.at = s.current()
	s.prompt = learn(s.at)
	return s.climb(ctx)
}

// prepare goes to the level that commands run in and makes the terminal fit for a program.
func (s *session) prepare(ctx context.Context) error {
	if err := s.climb(ctx); err != nil {
		return err
	}
	for _, command := range s.platform.onOpen {
		out, err := s.command(ctx, command, s.options.PromptTimeout)
		if err != nil {
			return err
		}
		if out.Err != nil { // an older device may lack it; a pager is answered anyway
			s.log.DebugContext(ctx, "console preparation refused", "command", command, "reason", out.Err.Message)
		}
	}
	return nil
}

// wake presses keys until a prompt stands there, and deals with what may stand in its way. It never answers what only the
// user may answer.
func (s *session) wake(ctx context.Context) error {
	keys, next, silence := generalWake, 0, s.options.PromptTimeout
	if p := s.likely(); p != nil {
		keys = p.Wake
	}
	if s.boots {
		keys, silence = bootWake(keys), s.options.BootTimeout
	}
	start, heard, aborts := time.Now(), time.Now(), 0
	answered := make(map[verdict]int)
	w := waking{first: s.lines, since: start}
	for {
		w.line, w.received = s.lines, s.received
		v, err := s.await(ctx, s.options.BootTimeout-time.Since(start), func() (verdict, time.Duration) { return s.judgeWake(w) })
		if s.received > w.received {
			heard = time.Now()
		}
		key := ""
		switch {
		case err != nil:
			return s.wakeError(err)
		case v == atPrompt:
			s.boots = false
			return nil
		case v == quietNow && time.Since(heard) > silence:
			return s.silent()
		case v == goesOn:
			abort := s.running(w.first).Abort
			key = abort[aborts%len(abort)]
			aborts++
		case v == quietNow && s.lines > w.first+bootLines:
			key = bootKey
		case v == quietNow:
			key = keys[next%len(keys)]
			next++
		default:
			if answered[v]++; answered[v] > 2 {
				return s.asked()
			}
			if key = s.wayOut(v); key == "" {
				return s.asked()
			}
		}
		w.sent, w.since = true, time.Now()
		s.enter = enterOf(key, s.enter)
		if err := s.link.typeKeys(key); err != nil {
			return s.wakeError(err)
		}
	}
}

// bootWake is those of the keys that interrupt nothing. Ctrl-U comes first: where a question still stands, it is no answer.
func bootWake(keys []string) []string {
	calm := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return strings.ContainsAny(key, keyInterrupt+keyEscape) })
	return append([]string{bootKey}, calm...)
}

// likely is the platform that the tag, or an earlier prompt, names; nil when neither does.
func (s *session) likely() *platform {
	if s.platform != nil {
		return s.platform
	}
	return s.known.find(s.target.Platform)
}

// enterOf gives the form of Enter that a wake key ends with, which is the one that the device is known to take if a
// prompt follows.
func enterOf(key, otherwise string) string {
	if i := strings.IndexByte(key, '\r'); i >= 0 {
		return key[i:]
	}
	return otherwise
}

// waking is where wake stands.
type waking struct {
	first          int       // lines that were finished when it began
	line, received int       // lines and bytes when the last key was pressed
	sent           bool      // one was
	since          time.Time // when that was, or when it began
}

// judgeWake looks at the unfinished line of a console whose state isn't known. Only what arrived since the last key counts.
func (s *session) judgeWake(w waking) (verdict, time.Duration) {
	current := s.current()
	fresh := s.received > w.received
	switch {
	case !fresh && !w.sent:
		return quietNow, greeting
	case !fresh:
		return quietNow, patience
	case len(current) > maxAsk:
	case w.sent && s.lines > w.line && s.looksLikePrompt(current):
		return atPrompt, promptQuiet
	case s.looksLikePager(current):
		return atPager, promptQuiet
	case dialogPattern.MatchString(current):
		return atDialog, askQuiet
	case autoinstallPattern.MatchString(current):
		return atAutoinstall, askQuiet
	case setupPattern.MatchString(current), loginPattern.MatchString(current), loaderPattern.MatchString(current):
		return atDeadEnd, askQuiet
	case questionPattern.MatchString(current):
		return atQuestion, askQuiet
	}
	quiet, most := greeted, greeting
	if w.sent {
		quiet, most = patience, abortPatience
	}
	if !s.boots && s.running(w.first) != nil { // it may never be quiet
		return goesOn, min(quiet, max(0, most-time.Since(w.since)))
	}
	return quietNow, quiet
}

// running gives the platform that knows the line which came last for one of a command that goes on until it is
// interrupted, nil when none does. Lines up to the given one are old.
func (s *session) running(first int) *platform {
	last := [][]byte{s.screen.current()}
	if s.lines > first {
		last = append(last, append(bytes.Clone(s.recent[(s.lines-1)%recentLines]), '\n'))
	}
	knows := func(p *platform) bool {
		return p != nil && p.running != nil && slices.ContainsFunc(last, p.running.Match)
	}
	if p := s.likely(); knows(p) {
		return p
	}
	if i := slices.IndexFunc(s.known, knows); i >= 0 {
		return s.known[i]
	}
	return nil
}

func (s *session) looksLikePrompt(line string) bool {
	return s.prompt.matches(line) || s.known.levelOf(line) && learn(line) != nil
}

func (s *session) looksLikePager(line string) bool {
	return slices.ContainsFunc(s.known, func(p *platform) bool { return p.pagerKey(line) != "" })
}

// wayOut is the key that gets past what stands in the way, "" when that is not for us to decide.
func (s *session) wayOut(v verdict) string {
	switch v {
	case atPager:
		return "q"
	case atDialog:
		return "no" + s.enter
	case atAutoinstall:
		return s.enter
	case atQuestion:
		return keyInterrupt
	}
	return ""
}

// asked is the failure of a console that wants an answer which only a person can give.
func (s *session) asked() error {
	s.broken = true
	current := strings.TrimSpace(s.current())
	what := "asks " + fmt.Sprintf("%q", current)
	hint := "Answer it on the device's console, then try again."
	switch {
	case setupPattern.MatchString(current):
		what = "is in its first setup and asks " + fmt.Sprintf("%q", current)
		hint = "Finish the setup on the device's console, then try again. No password is made up for it."
	case loaderPattern.MatchString(current):
		what = "is in its boot loader"
		hint = "Boot it from the console, or restart the node, then try again."
	case loginPattern.MatchString(current):
		what = "asks for a login"
		hint = "Log in on the device's console, or remove the login from its console line, then try again."
	}
	return s.failure(schema.CodeDeviceQuestion, "%s", what).WithHint("%s", hint)
}

// silent is the failure of a console that gives no prompt.
func (s *session) silent() *schema.Error {
	s.broken = true
	return s.failure(schema.CodeConsoleSilent, "accepted the connection but shows no prompt").
		WithHint("The device may still be booting, or another client may hold its console. Wait a little and try again.")
}

func (s *session) wakeError(err error) error {
	s.broken = true
	switch {
	case errors.Is(err, errClosed):
		return s.closed(err, "before it showed a prompt")
	case errors.Is(err, errLimit):
		return s.failure(schema.CodeConsoleSilent, "is still booting, or shows no prompt that is known, after %s", s.options.BootTimeout).
			WithHint("Wait until its prompt appears on the console, then try again.")
	}
	return aborted(s.target.Device, "the log-on was interrupted", err)
}
