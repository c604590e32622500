package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gns3copilot/schema"
)

// The short quiet times, used only where what stands there is ambiguous.
const (
	settleQuiet   = 200 * time.Millisecond // a prompt that more may follow
	splitQuiet    = 10 * time.Millisecond  // the prompt's text, which may be the first half of a line of output
	gluedQuiet    = 2 * time.Second        // output that ends in the prompt's text, without a line end between
	questionQuiet = 500 * time.Millisecond // a line that may be a question, or one that isn't finished yet
	maybeQuiet    = 5 * time.Second        // a line that only ends like a question
	probeQuiet    = 500 * time.Millisecond // a prompt that isn't the learned one
	enterPatience = time.Second            // an Enter that seems not to have been taken
	foreignLimit  = time.Second            // for a message of the device's own to come to its end
	echoLimit     = 5 * time.Second
	// maxAsk is the longest unfinished line that is looked at for prompts and questions.
	maxAsk = 300
)

// errNoEcho says that what was typed didn't come back.
var errNoEcho = errors.New("no echo")

// keyInterrupt is Ctrl-C.
const keyInterrupt = "\x03"

// keyEscape is Ctrl-^, which interrupts on IOS.
const keyEscape = "\x1e"

// keyLiteral is Ctrl-V: the next key is text, and does nothing.
const keyLiteral = "\x16"

// command runs one command and gives its output, whose Err is about the command alone, with the console at its prompt
// again. An error is a domain error that ends the Run, of CodeAborted when ctx ended; s.broken tells whether the console
// is at its prompt nevertheless. Output that came before either is returned too.
func (s *session) command(ctx context.Context, command string, limit time.Duration) (Output, error) {
	return s.confirmed(ctx, command, limit, 0)
}

// confirmed is command, with so many confirmations given.
func (s *session) confirmed(ctx context.Context, command string, limit time.Duration, confirms int) (Output, error) {
	foreign, err := false, s.drain()
	if err == nil {
		foreign, err = s.foreign(ctx)
	}
	if err != nil {
		return notTyped(command, s.closed(err, "before a command"))
	}
	if foreign && !s.backToPrompt(ctx, []string{s.platform.ClearLine + keyInterrupt}) {
		return notTyped(command, s.silent())
	}
	r := s.newReply(command)
	r.confirms = confirms
	s.reply = r
	defer func() { s.reply = nil }()
	enterLine := s.enterLine
	if s.platform.HelpKey && strings.HasSuffix(command, "?") {
		enterLine = s.askHelp
	}
	v, err := waiting, enterLine(ctx, r)
	if err == nil {
		v, err = s.answer(ctx, r, limit)
	}
	return s.conclude(ctx, r, v, err, limit)
}

// notTyped is the end of a command that the console was no longer fit for.
func notTyped(command string, failure *schema.Error) (Output, error) {
	return Output{Command: command, Err: failure}, failure
}

// newReply makes ready for a command's output.
func (s *session) newReply(command string) *reply {
	return &reply{session: s, command: command, keys: command, name: strconv.Quote(command), prompt: s.standing(),
		out: capture{half: max(1, s.options.MaxOutput/2)}}
}

// enterLine types the command and presses Enter, on most platforms once the echo has shown that it arrived intact.
func (s *session) enterLine(ctx context.Context, r *reply) error {
	if !s.platform.ConfirmEcho {
		return s.pressEnter(r, r.keys+s.enter)
	}
	if err := s.link.typeKeys(r.keys); err != nil {
		return err
	}
	_, err := s.await(ctx, echoLimit, func() (verdict, time.Duration) {
		if r.isEchoed(s.current()) {
			return echoed, 0
		}
		return waiting, 0
	})
	if err == nil {
		return s.pressEnter(r, s.enter)
	}
	if errors.Is(err, errLimit) {
		err = errNoEcho
	}
	if !errors.Is(err, errClosed) { // never leave half a line
		s.backToPrompt(ctx, []string{s.platform.ClearLine + keyInterrupt})
	}
	return err
}

// askHelp types a command that ends in the help key, which is answered without Enter.
func (s *session) askHelp(_ context.Context, r *reply) error {
	r.helpLine = s.current() + strings.TrimSuffix(r.command, "?")
	return s.pressEnter(r, r.command)
}

// pressEnter sends the keys after which the device may be running the command.
func (s *session) pressEnter(r *reply, keys string) error {
	if err := s.link.typeKeys(keys); err != nil {
		return err
	}
	r.phase = entered
	s.ran++
	return nil
}

// answer waits for the end of the command: a prompt or a question. It goes on through pagers.
func (s *session) answer(ctx context.Context, r *reply, limit time.Duration) (verdict, error) {
	deadline := time.Now().Add(limit)
	for {
		v, err := s.await(ctx, time.Until(deadline), func() (verdict, time.Duration) { return s.judge(r) })
		if err != nil {
			return v, err
		}
		key := ""
		switch v {
		case atQuestion:
			if !r.mayConfirm(s.current()) {
				return v, nil
			}
			if err := ctx.Err(); err != nil {
				return waiting, err
			}
			r.confirms, r.question, r.asked = r.confirms-1, s.current(), s.lines
			deadline = time.Now().Add(s.options.RestartTimeout)
			key = s.enter
		case atPager:
			key = s.platform.pagerKey(s.current())
			s.screen.clear()
		case notEntered:
			key = s.nextEnter()
			r.unsure = true
		case newPrompt:
			if r.probe != "" {
				s.prompt = learn(s.current())
				r.dropHeld()
				return atPrompt, nil
			}
			// Only a prompt answers Enter with itself; a line of output that looks like one does not.
			r.probe, r.probeLine, r.unsure = s.current(), s.lines, true
			key = s.enter
		case helpShown:
			r.flush()
			r.helpLine = ""
			return s.clearTyped(ctx)
		default:
			return v, nil
		}
		if err := s.link.typeKeys(key); err != nil {
			return waiting, err
		}
	}
}

// judge looks at the unfinished line of a running command.
func (s *session) judge(r *reply) (verdict, time.Duration) {
	if r.question != "" {
		return s.judgeConfirmed(r)
	}
	if len(s.screen.line) > maxAsk {
		return s.judgeGlued(r)
	}
	current := s.current()
	if r.phase == entered {
		if !s.proven && r.helpLine == "" && current != "" && r.isEchoed(current) {
			return notEntered, enterPatience
		}
		return waiting, 0
	}
	p := s.platform
	switch {
	case s.prompt.matches(current):
		return atPrompt, r.promptQuiet()
	case r.promptSplit(current):
		return splitPrompt, settleQuiet
	case current == "" && r.opensText:
		return textTaken, settleQuiet
	case current == "":
		return waiting, 0
	case current == r.helpLine:
		return helpShown, 0
	case p.pagerKey(current) != "":
		return atPager, 0
	case r.probe != "" && current == r.probe && s.lines > r.probeLine:
		return newPrompt, settleQuiet
	case r.probe == "" && p.levelOf(current) != nil && learn(current) != nil:
		return newPrompt, probeQuiet
	case questionPattern.MatchString(current):
		return atQuestion, questionQuiet
	case maybeQuestion.MatchString(current):
		return atQuestion, maybeQuiet
	}
	return s.judgeGlued(r)
}

// judgeGlued looks for the prompt behind output that did not end its line. Enter will tell.
func (s *session) judgeGlued(r *reply) (verdict, time.Duration) {
	if r.phase == answering && r.probe == "" && s.at != "" && bytes.HasSuffix(s.screen.current(), []byte(s.at)) {
		return newPrompt, gluedQuiet
	}
	return waiting, 0
}

// nextEnter turns to the platform's next form of the Enter key.
func (s *session) nextEnter() string {
	forms := s.platform.Enter
	for i, form := range forms {
		if form == s.enter {
			s.enter = forms[(i+1)%len(forms)]
			return s.enter
		}
	}
	s.enter = forms[0]
	return s.enter
}

// clearTyped withdraws what stands on the command line.
func (s *session) clearTyped(ctx context.Context) (verdict, error) {
	if err := s.link.typeKeys(s.platform.ClearLine); err != nil {
		return waiting, err
	}
	return s.await(ctx, echoLimit, func() (verdict, time.Duration) {
		if s.prompt.matches(s.current()) {
			return atPrompt, 0
		}
		return waiting, 0
	})
}

// conclude turns the end of a command into its output, and leaves the console at its prompt.
func (s *session) conclude(ctx context.Context, r *reply, v verdict, err error, limit time.Duration) (Output, error) {
	text, failure, err := s.end(ctx, r, v, err, limit)
	return Output{Command: r.command, Prompt: r.prompt, Text: text, Err: failure}, err
}

// end gives the text of a command's output and what is to be said about it, and leaves the console at its prompt.
func (s *session) end(ctx context.Context, r *reply, v verdict, err error, limit time.Duration) (string, *schema.Error, error) {
	switch {
	case v == atBoot, r.question != "" && err != nil && !r.asksAgain():
		return s.endConfirmed(r, err)
	case err == nil && (v == atPrompt || v == splitPrompt || v == textTaken):
		switch v {
		case atPrompt:
			s.at = s.current()
			r.unglue(s.at)
		case splitPrompt:
			s.at = string(r.held[0]) + s.current()
			r.dropHeld()
			s.screen.clear()
		case textTaken:
			s.at = ""
		}
		s.proven, r.ended = true, true
		text := r.text("")
		return text, s.rejection(r, text), nil
	case err == nil: // a question
		question := strings.TrimSpace(s.current())
		text := r.text(s.current())
		failure := &schema.Error{Code: schema.CodeDeviceQuestion,
			Message: fmt.Sprintf("%s asked %q after %s. The question was not answered.", s.target.Device, question, r.name),
			Hint:    questionHint(question)}
		if !s.cancelQuestion(ctx) {
			return text, failure, failure
		}
		return text, failure, nil
	case errors.Is(err, errClosed):
		s.broken = true
		failure := s.closed(err, fmt.Sprintf("while %s ran", r.name))
		return r.text(s.current()), failure, failure
	case errors.Is(err, errNoEcho):
		failure := s.failure(schema.CodeConsoleSilent, "did not echo %s, so Enter was not pressed", r.name).WithCause(err)
		if s.broken {
			return r.text(""), failure, failure
		}
		return r.text(""), failure, nil
	case errors.Is(err, errLimit):
		back := s.returnTo(ctx)
		failure := &schema.Error{Code: schema.CodeCommandTimeout,
			Message: fmt.Sprintf("%s: %s did not end within %s and was interrupted.", s.target.Device, r.name, limit),
			Hint:    "Use a command that ends by itself, for example a ping with a count."}
		if !back {
			failure.Message += " The console did not return to its prompt."
			return r.text(s.current()), failure, failure
		}
		return r.text(""), failure, nil
	default: // the context
		partial := ""
		if !s.returnTo(ctx) {
			partial = s.current()
		}
		failure := aborted(s.target.Device, r.name+" was interrupted", err)
		return r.text(partial), failure, failure
	}
}

// aborted is the failure of what the end of a context has ended, and wraps the context's error.
func aborted(device, what string, err error) *schema.Error {
	return schema.Errorf(schema.CodeAborted, "%s: %s.", device, what).WithCause(err)
}

// returnTo interrupts the command if it runs; one that is only typed was withdrawn already.
func (s *session) returnTo(ctx context.Context) bool {
	if s.reply.phase == typing {
		return !s.broken
	}
	if questionPattern.MatchString(s.current()) {
		return s.cancelQuestion(ctx)
	}
	return s.backToPrompt(ctx, s.platform.Abort)
}

// rejection finds the line by which the device rejected the command. Such a line comes at once, so that the same words
// further down, in a log for instance, mean nothing.
func (s *session) rejection(r *reply, text string) *schema.Error {
	if r.pushed && !r.long {
		return s.lineRejection(r, text)
	}
	const look = 5
	seen := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		for _, start := range s.platform.refused {
			if strings.HasPrefix(line, start) {
				return schema.Errorf(schema.CodeCommandRejected, "%s rejected %s: %s", s.target.Device, r.name, line)
			}
		}
		if seen++; seen == look {
			break
		}
	}
	return nil
}
