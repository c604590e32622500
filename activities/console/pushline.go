package console

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gns3copilot/schema"
)

// ready makes sure that the device waits for the line in the mode that it is meant for, and that nothing else is typed.
func (p *push) ready(ctx context.Context, i int) error {
	s, at := p.session, p.steps[i]
	if at.skip {
		return nil
	}
	if err := s.drain(); err != nil {
		return s.closed(err, "before "+p.name(i))
	}
	if at.text {
		if s.current() == "" && s.standing() == "" {
			return nil
		}
		return s.failure(schema.CodeCommandRejected, "ended the text before %s, so that was not typed", p.name(i))
	}
	foreign, err := s.foreign(ctx)
	if err != nil {
		return s.closed(err, "before "+p.name(i))
	}
	if foreign {
		if err := p.clearLine(ctx, i); err != nil {
			return err
		}
	}
	if s.level() != p.levelOfLines() {
		return schema.Errorf(schema.CodeInvalid, "%s left configuration mode before %s, so that was not typed.", p.target.Device, p.name(i)).
			WithHint("A line that leaves configuration mode, such as `exit`, can only be the last. Run commands by themselves.")
	}
	return nil
}

func (p *push) levelOfLines() *level {
	if p.config != nil {
		return p.config
	}
	return p.base
}

// clearLine withdraws what somebody else has typed. Ctrl-U, where the platform has it, does not leave the mode.
func (p *push) clearLine(ctx context.Context, i int) error {
	s := p.session
	if s.platform.ClearLine == "" {
		if !s.backToPrompt(ctx, []string{keyInterrupt}) {
			return s.silent()
		}
		return nil
	}
	switch _, err := s.clearTyped(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, errClosed):
		s.broken = true
		return s.closed(err, "before "+p.name(i))
	case ctx.Err() != nil:
		return p.notBegun(ctx, i)
	}
	return s.silent()
}

// typeLine types one line and waits until the device has taken it. An error stops the Push; the report says whether the
// line is in doubt.
func (p *push) typeLine(ctx context.Context, i int) (Output, error) {
	s, at := p.session, p.steps[i]
	r := s.newReply(at.line)
	r.name, r.pushed, r.opensText, r.before = p.name(i), true, at.open, s.current()
	first, rest, _ := strings.Cut(strings.TrimSpace(at.line), " ")
	r.long = strings.EqualFold(first, "do")
	if s.platform.HelpKey && !at.text {
		r.keys = strings.ReplaceAll(at.line, "?", keyLiteral+"?")
	}
	limit := s.options.CommandTimeout
	if s.platform.slow(at.line) || r.long && s.platform.slow(rest) {
		limit = s.options.SlowTimeout
	}
	s.reply = r
	defer func() { s.reply = nil }()

	v, err := waiting, s.enterLine(ctx, r)
	if err == nil {
		v, err = s.answer(ctx, r, limit)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			if v, err = s.answer(context.WithoutCancel(ctx), r, abortGrace); errors.Is(err, errLimit) {
				err = ctx.Err()
			}
		}
	}
	out, err := s.conclude(ctx, r, v, err, limit)
	p.report.InDoubt = r.inDoubt(out.Err)
	if err == nil && out.Err != nil {
		err = out.Err
	}
	return out, err
}

// inDoubt tells whether the line may have taken effect or not: Enter was pressed and no prompt came of itself, or the line
// could not be withdrawn. A question that was withdrawn leaves no doubt.
func (r *reply) inDoubt(failure *schema.Error) bool {
	switch {
	case r.ended:
		return false
	case r.phase != typing && failure.Code != schema.CodeDeviceQuestion:
		return true
	}
	return r.session.broken
}

// lineRejection finds the line by which the device refused a configuration line. A line of configuration is answered with
// nothing, or with why it was not taken; all of what the device says about that is for the user.
func (s *session) lineRejection(r *reply, text string) *schema.Error {
	p := s.platform
	const most = 400
	for rest := text; rest != ""; {
		said := rest
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if p.logStart([]byte(line)) == 0 || p.lineHarmless != nil && p.lineHarmless.MatchString(line) {
			continue
		}
		listed := slices.ContainsFunc(p.refused, func(start string) bool { return strings.HasPrefix(line, start) })
		if listed || p.lineRefused != nil && p.lineRefused.MatchString(line) {
			said = strings.Join(strings.Fields(said), " ")
			said = strings.ToValidUTF8(maskSecret(said[:min(len(said), most)]), "")
			return schema.Errorf(schema.CodeCommandRejected, "%s rejected %s: %s", s.target.Device, r.name, said)
		}
	}
	return nil
}
