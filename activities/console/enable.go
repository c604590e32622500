package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gns3copilot/schema"
)

// What may keep us at the user level, in messages.
const (
	asksPassword = "asks for its enable password"
	staysUser    = "stays in user mode after `enable`"
)

const (
	// withdrawLimit bounds the way back from a password question. A device may think for two seconds about each wrong one.
	withdrawLimit = 15 * time.Second
	// thinking is how long a device that has reacted to a key may go on without a word.
	thinking = 3 * time.Second
)

// climb goes to the level that commands run in: down out of configuration modes, up from the user level where the device
// lets us without a password. What keeps us there is remembered, so that a session meets it once.
func (s *session) climb(ctx context.Context) error {
	if err := s.home(ctx); err != nil {
		return err
	}
	desired := s.platform.level(s.platform.desired)
	level := s.level()
	if level == desired {
		s.barred = ""
	}
	if level == nil || level == desired || s.barred != "" || desired.up == "" || desired.previous != level.name {
		return nil
	}
	v, err := s.raise(ctx, desired)
	switch {
	case errors.Is(err, errClosed):
		s.broken = true
		return s.closed(err, fmt.Sprintf("while %q ran", desired.up))
	case (err != nil || v == atQuestion) && !s.withdraw(ctx):
		code, what := schema.CodeConsoleSilent, fmt.Sprintf("did not answer %q", desired.up)
		if v == atQuestion {
			code, what = schema.CodeDeviceQuestion, asksPassword+" and did not return to its prompt"
		}
		return s.failure(code, "%s", what).WithHint("Bring it to its prompt on its console, then try again.").WithCause(err)
	}
	switch {
	case ctx.Err() != nil:
		return s.wakeError(ctx.Err())
	case v == atQuestion:
		s.barred = asksPassword
	case s.level() != desired:
		s.barred = staysUser
	}
	return nil
}

// raise enters the command that leads to the level, and waits for the prompt or the password question. An abort doesn't
// end it at once: the question would be left on the console.
func (s *session) raise(ctx context.Context, to *level) (verdict, error) {
	arrived := s.promptAfter()
	if err := s.link.typeKeys(to.up + s.enter); err != nil {
		return waiting, err
	}
	judge := func() (verdict, time.Duration) {
		if s.asksPrivilege() {
			return atQuestion, askQuiet
		}
		return arrived()
	}
	v, err := s.await(ctx, s.options.PromptTimeout, judge)
	if err != nil && ctx.Err() != nil {
		v, err = s.await(context.WithoutCancel(ctx), abortGrace, judge)
	}
	return v, err
}

// asksPrivilege tells whether the device waits for the password of the level that commands run in.
func (s *session) asksPrivilege() bool {
	asks := s.platform.level(s.platform.desired).asks
	return asks != nil && asks.MatchString(s.current())
}

// withdraw gets rid of a password question, and tells whether the prompt stands there again; if not, the session is of no
// more use. Ctrl-C ends the question on some devices. Others ask again, or know no Ctrl-C here, and give up after some empty
// answers. Each is given only to a question that stands there; nothing but a password is answered with one.
func (s *session) withdraw(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawLimit)
	defer cancel()
	for key := keyInterrupt; ; {
		line, received, arrived := s.lines, s.received, s.promptAfter()
		if s.link.typeKeys(key) != nil {
			break
		}
		v, err := s.await(ctx, withdrawLimit, func() (verdict, time.Duration) {
			if v, quiet := arrived(); v == atPrompt {
				return v, quiet
			}
			switch {
			case s.lines > line && s.asksPrivilege():
				return atQuestion, askQuiet
			case s.received == received:
				return quietNow, abortPatience
			}
			return quietNow, thinking
		})
		if err != nil {
			break
		}
		if v == atPrompt {
			return true
		}
		if key = keyInterrupt; s.asksPrivilege() {
			key = s.enter
		}
	}
	s.broken = true
	return false
}

// userNote says why commands run in user mode; "" when they don't.
func (s *session) userNote() string {
	if s.barred == "" {
		return ""
	}
	return fmt.Sprintf("%s %s, so the commands ran in user mode.", s.target.Device, s.barred)
}

// needsPassword is the failure of a Push to a device that asks for a password first.
func (s *session) needsPassword() *schema.Error {
	device := s.target.Device
	return schema.Errorf(schema.CodeDeviceQuestion, "%s %s, which the assistant doesn't have.", device, asksPassword).
		WithHint("Type enable and the password on %s's console, then ask again: the console stays privileged.", device)
}
