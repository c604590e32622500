package console

import (
	"context"
	"errors"
	"strings"
	"time"

	"gns3copilot/schema"
)

// maxConfirms is how many confirmations a command may ask for.
const maxConfirms = 3

// RunConfirmed is Run for one command that a person has confirmed: a question of it that ends in [confirm] is answered with
// Enter, once each and at most three times, unless ctx has ended. Every other question is cancelled and is the Output's
// Err, as in Run. After a confirmation the prompt is the normal end. A connection that closes, a boot, or no prompt within
// Options.RestartTimeout means that the device restarts: that is no error, the report's note says so, and the next use of
// the console waits for the boot. No key is pressed on a device that may be restarting, also when ctx ends then.
func (p *Pool) RunConfirmed(ctx context.Context, t Target, command string, progress Progress) (Report, error) {
	return p.run(ctx, t, []string{command}, maxConfirms, progress)
}

// mayConfirm tells whether the question that stands there is to be answered with Enter.
func (r *reply) mayConfirm(question string) bool {
	return r.confirms > 0 && confirmPattern.MatchString(question)
}

// asksAgain tells whether a question stands there that came after the last one that was confirmed.
func (r *reply) asksAgain() bool {
	return r.session.lines > r.asked && questionPattern.MatchString(r.session.current())
}

// judgeConfirmed looks at what follows a confirmation. That may be a boot, where much looks like a question or a prompt, so
// only what is certain counts.
func (s *session) judgeConfirmed(r *reply) (verdict, time.Duration) {
	current := s.current()
	switch {
	case len(current) > maxAsk, s.lines == r.asked && strings.HasPrefix(current, r.question): // the answered question
		return waiting, 0
	case s.prompt.matches(current):
		return atPrompt, r.promptQuiet()
	case r.promptSplit(current):
		return splitPrompt, settleQuiet
	case dialogPattern.MatchString(current), autoinstallPattern.MatchString(current), loaderPattern.MatchString(current):
		return atBoot, 0
	case questionPattern.MatchString(current):
		return atQuestion, questionQuiet
	}
	return waiting, 0
}

// endConfirmed is the end of a command that was confirmed and did not come back to a prompt. No key is pressed: it could
// interrupt a boot.
func (s *session) endConfirmed(r *reply, err error) (string, *schema.Error, error) {
	s.broken, s.restarts = true, true
	text := r.text(s.current())
	if err != nil && !errors.Is(err, errLimit) && !errors.Is(err, errClosed) {
		failure := aborted(s.target.Device, r.name+" was confirmed and then interrupted, so the device may be restarting", err)
		return text, failure, failure
	}
	return text, nil, nil
}

// questionHint says who should answer a question that was cancelled, and how it may be avoided.
func questionHint(question string) string {
	if savePattern.MatchString(question) {
		return "Save the configuration first (write memory) or answer on the device's console."
	}
	return "Only a person should answer this, on the device's console."
}

// cancelQuestion gets rid of a question that nobody may answer, and tells whether the prompt stands there again.
func (s *session) cancelQuestion(ctx context.Context) bool {
	if s.asksPrivilege() {
		return s.withdraw(ctx)
	}
	return s.backToPrompt(ctx, append([]string{keyInterrupt}, s.platform.Abort...))
}

// restarted remembers that the node's device restarts.
func (p *Pool) restarted(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restarts[node] = time.Now()
}

// restarting tells whether the node's device was restarted and may still be booting.
func (p *Pool) restarting(node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	since, ok := p.restarts[node]
	if ok && time.Since(since) > p.options.BootTimeout {
		delete(p.restarts, node)
		return false
	}
	return ok
}

// cameBack notes that the node's console showed its prompt.
func (p *Pool) cameBack(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.restarts, node)
}
