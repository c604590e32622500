package console

import (
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
		_, failure, err := s.command(ctx, command, s.options.PromptTimeout)
		if err != nil {
			return err
		}
		if failure != nil { // an older device may lack it; a pager is answered anyway
			s.log.Debug("console preparation refused", "command", command, "reason", failure.Message)
		}
	}
	return nil
}

// wake presses keys until a prompt stands there, and deals with what may stand in its way. It never answers what only the
// user may answer.
func (s *session) wake(ctx context.Context) error {
	keys, next := generalWake, 0
	if p := s.likely(); p != nil {
		keys = p.Wake
	}
	start, heard, first := time.Now(), time.Now(), s.lines
	answered := make(map[verdict]int)
	sent := false
	for {
		line, received := s.lines, s.received
		v, err := s.await(ctx, s.options.BootTimeout-time.Since(start), func() (verdict, time.Duration) {
			return s.judgeWake(line, received, sent)
		})
		if s.received > received {
			heard = time.Now()
		}
		key := ""
		switch {
		case err != nil:
			return s.wakeError(err)
		case v == atPrompt:
			return nil
		case v == quietNow && time.Since(heard) > s.options.PromptTimeout:
			return s.silent()
		case v == quietNow && s.lines > first+bootLines:
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
		sent = true
		s.enter = enterOf(key, s.enter)
		if err := s.link.typeKeys(key); err != nil {
			return s.wakeError(err)
		}
	}
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

// judgeWake looks at the unfinished line of a console whose state isn't known. Only what arrived since the last key counts.
func (s *session) judgeWake(line, received int, sent bool) (verdict, time.Duration) {
	current := s.current()
	fresh := s.received > received
	switch {
	case !fresh && !sent:
		return quietNow, greeting
	case !fresh:
		return quietNow, patience
	case len(current) > maxAsk:
	case sent && s.lines > line && s.looksLikePrompt(current):
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
	if !sent {
		return quietNow, greeted
	}
	return quietNow, patience
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
func (s *session) silent() error {
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
