package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
)

const (
	// abortGrace is how long a line that is under way may go on to its prompt when the Push is aborted.
	abortGrace = 2 * time.Second
	// hookLimit bounds the record of a line that the device has taken, which an abort doesn't keep from being written.
	hookLimit = 10 * time.Second
	// keyEnd is Ctrl-Z, which ends a text or a mode.
	keyEnd = "\x1a"
)

// PushRequest is a confirmed change of one device's configuration.
type PushRequest struct {
	// Lines are sent exactly as given. Each is one line of text; blank ones and comments are not typed.
	Lines []string
	// Before is called just before the line of that index is typed, and may veto it: an error stops the Push before the
	// line's first byte. Acked is called once the device has taken the line, with what it printed for it; an error stops
	// the Push. It is called for a line that was under way at an abort too, so its context outlives the Push's, by 10 s at
	// most. Both are called for each line in order, also for those that are not typed, from the Push's goroutine. Either
	// may be nil.
	Before func(ctx context.Context, line int) error
	Acked  func(ctx context.Context, line int, output string) error
	// Snapshot reads the running configuration before the first line and after the last, where the platform has one.
	Snapshot bool
}

// PushReport is what became of a Push.
type PushReport struct {
	Platform string // what the device turned out to be
	Note     string // what the user should know; often empty
	// Mode has the lines that were added to enter and leave configuration mode; none on VPCS.
	Mode []string
	// Outputs has an entry for each line that was begun, in order; the last one's Err tells why the Push stopped at it.
	Outputs []Output
	Acked   int // lines that the device has taken, with those that need no typing
	// Before and After are the running configuration, "" when it was not read. It is not read again after a veto or an
	// abort.
	Before, After string
	// InDoubt says that the last line of Outputs was typed and its end not seen: it may have taken effect or not.
	InDoubt bool
}

// Push types configuration lines one by one on one device: each at most once, and only at the prompt of the mode it is
// meant for. It stops at the first line that the device does not take. Configuration mode is left, and the console
// brought back to its base prompt, whatever happens. The error is nil when all lines were taken and the mode was left.
// Else it is a *schema.Error, with a report of what is known: CodeInvalid (lines that can't be sent: nothing was; or one
// has left configuration mode), CodeCommandRejected (it names the line and has the device's own words; or configuration
// mode was refused, and nothing sent), CodeDeviceQuestion, CodeCommandTimeout, CodeAborted, one of Run's console codes,
// or what a hook returned. Progress may be nil; it counts lines.
func (p *Pool) Push(ctx context.Context, t Target, r PushRequest, progress Progress) (PushReport, error) {
	if progress == nil {
		progress = func(string, int, int, string) {}
	}
	w := &push{request: r, visit: visit{pool: p, target: t, total: len(r.Lines), progress: progress}}
	if err := w.do(ctx, w.on); err != nil {
		progress("failed", w.report.Acked, w.total, schema.AsError(err).Message)
		return w.report, err
	}
	progress("done", w.total, w.total, "")
	return w.report, nil
}

// push is one call of Push.
type push struct {
	visit
	request PushRequest
	session *session
	base    *level // the mode to start from and return to
	config  *level // the mode that lines are typed in, nil when that is the base
	steps   []step
	vetoed  bool
	hooks   time.Duration // spent in the caller's hooks, of a group of lines
	report  PushReport
}

// on pushes in the session, which stands at its base prompt.
func (p *push) on(ctx context.Context, s *session) error {
	p.session, p.report = s, PushReport{Platform: s.platform.name, Note: s.notes()}
	steps, invalid := s.platform.plan(p.request.Lines)
	if invalid != nil {
		return invalid
	}
	p.steps, p.base, p.config = steps, s.level(), s.platform.level(configLevel)
	if p.config != nil && s.barred == asksPassword {
		return s.needsPassword()
	}
	s.base = s.prompt
	defer func() { s.base = nil }()

	var err error
	if p.report.Before, err = p.snapshot(ctx); err != nil {
		return err
	}
	if err = p.enter(ctx); err == nil {
		err = p.lines(ctx)
	}
	if leaveErr := p.leave(ctx); err == nil {
		err = leaveErr
	}
	if len(p.report.Outputs) > 0 && !p.vetoed && !s.broken && ctx.Err() == nil {
		after, lost := p.snapshot(ctx)
		if lost != nil { // what was pushed stays pushed
			p.note("The running configuration could not be read afterwards.")
		}
		p.report.After = after
	}
	return err
}

// snapshot reads the running configuration, "" where that isn't wanted or possible. An error means that the console can't
// be used.
func (p *push) snapshot(ctx context.Context) (_ string, err error) {
	s := p.session
	if !p.request.Snapshot || s.platform.Snapshot == "" {
		return "", nil
	}
	ctx, span := observe.Start(ctx, "read configuration", p.about())
	defer func() { observe.End(span, err) }()
	out, err := s.command(ctx, s.platform.Snapshot, s.options.SlowTimeout)
	if err != nil {
		return "", err
	}
	if out.Err != nil {
		p.note("The running configuration could not be read. " + out.Err.Message)
		return "", nil
	}
	return out.Text, nil
}

// note adds a sentence to the report.
func (p *push) note(text string) { p.report.Note = joined(p.report.Note, text) }

// enter enters configuration mode, and makes sure by the prompt that it did.
func (p *push) enter(ctx context.Context) error {
	if p.config == nil {
		return nil
	}
	s := p.session
	p.report.Mode = append(p.report.Mode, p.config.up)
	out, err := s.command(ctx, p.config.up, s.options.CommandTimeout)
	if err != nil {
		return err
	}
	code, said := schema.CodeCommandRejected, inOneLine(out.Text)
	switch {
	case out.Err != nil:
		code, said = out.Err.Code, out.Err.Message
	case s.level() == p.config:
		return nil
	}
	return schema.Errorf(code, "%s", joined(p.target.Device+" did not enter configuration mode, so no line was sent.", said))
}

// leave leaves configuration mode, or the text that a stopped Push was typing, and makes sure by the prompt that it did.
func (p *push) leave(ctx context.Context) error {
	s := p.session
	if p.config == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	var cause error
	if !s.broken && s.standing() == "" {
		s.backToPrompt(ctx, []string{keyInterrupt, keyEnd})
	}
	if level := s.level(); !s.broken && (level == p.config || level == nil) {
		p.report.Mode = append(p.report.Mode, p.config.down)
		out, err := s.command(ctx, p.config.down, s.options.PromptTimeout)
		if cause = err; out.Err != nil {
			cause = out.Err
		}
	}
	if !s.broken && s.level() == p.base {
		return nil
	}
	s.broken = true
	p.note("The console was not left at its base prompt: it may still be in configuration mode.")
	return s.failure(schema.CodeConsoleSilent, "took the lines, but did not show that configuration mode was left").WithCause(cause)
}

// groupLines is how many lines have a span in common.
const groupLines = 20

// lines types the lines until one isn't taken.
func (p *push) lines(ctx context.Context) error {
	for first := 0; first < len(p.steps); first += groupLines {
		last := min(first+groupLines, len(p.steps))
		group, span := observe.Start(ctx, "push lines", p.about(), observe.LinesKey.Int(last-first))
		p.hooks = 0
		err := p.group(group, first, last)
		span.SetAttributes(observe.JournalKey.Int64(p.hooks.Milliseconds()))
		observe.End(span, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// group types the lines from first to before last.
func (p *push) group(ctx context.Context, first, last int) error {
	for i := first; i < last; i++ {
		at := p.steps[i]
		p.progress("running", i, p.total, maskSecret(at.line))
		if err := p.may(ctx, i); err != nil {
			return err
		}
		out := Output{Command: at.line}
		var err error
		if !at.skip {
			out, err = p.typeLine(ctx, i)
		}
		if err == nil && !at.skip {
			p.pool.options.Metrics.LinePushed(ctx)
		}
		p.report.Outputs = append(p.report.Outputs, out)
		if err != nil {
			return err
		}
		p.report.Acked++
		if err := p.acked(ctx, i, out.Text); err != nil {
			return err
		}
	}
	return nil
}

// may asks whether the line may be begun: nobody has aborted, the device waits for it, and the caller lets it pass.
func (p *push) may(ctx context.Context, i int) error {
	if ctx.Err() != nil {
		return p.notBegun(ctx, i)
	}
	if err := p.ready(ctx, i); err != nil {
		return err
	}
	p.session.ran++ // from here on a new connection could do something twice
	if p.request.Before != nil {
		err := p.hook(func() error { return p.request.Before(ctx, i) })
		switch {
		case ctx.Err() != nil:
			return p.notBegun(ctx, i)
		case err != nil:
			p.vetoed = true
			return fmt.Errorf("push to %s, before %s: %w", p.target.Device, p.name(i), err)
		}
	}
	return p.ready(ctx, i) // the caller may have taken its time
}

// acked tells the caller that the device has taken the line.
func (p *push) acked(ctx context.Context, i int, output string) error {
	if p.request.Acked == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookLimit)
	defer cancel()
	if err := p.hook(func() error { return p.request.Acked(ctx, i, output) }); err != nil {
		p.vetoed = true
		return fmt.Errorf("push to %s, after %s: %w", p.target.Device, p.name(i), err)
	}
	return nil
}

// hook calls the caller back and adds up what that takes, which isn't the device's time.
func (p *push) hook(call func() error) error {
	start := time.Now()
	defer func() { p.hooks += time.Since(start) }()
	return call()
}

// name is how messages call a line.
func (p *push) name(i int) string {
	return "line" + strings.TrimPrefix(lineName(p.request.Lines, i), "Line")
}

func (p *push) notBegun(ctx context.Context, i int) error {
	return aborted(p.target.Device, p.name(i)+" was not begun", ctx.Err())
}
