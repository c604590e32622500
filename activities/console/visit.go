package console

import (
	"context"
	"errors"
	"net"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"go.opentelemetry.io/otel/attribute"
)

// visit is one use of a console, by a Run or a Push: it waits for its turn, takes over the session that was kept open or
// makes a new one, and keeps it open afterwards.
type visit struct {
	pool     *Pool
	target   Target
	total    int // commands or lines, for progress
	progress Progress
}

// do lets work use the console, which stands at its base prompt, and leaves it there. Work is called a second time, on a
// new connection, when the kept one has died and work had entered nothing on it.
func (v *visit) do(ctx context.Context, work func(context.Context, *session) error) (err error) {
	ctx, span := observe.Start(ctx, "console visit", v.about())
	defer func() { observe.End(span, err) }()
	p := v.pool
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.ctx, func() { cancel(errPoolClosed) })()

	c, err := p.enter(v.target.Address)
	if err != nil {
		return err
	}
	defer p.leave(v.target.Address, c)
	if err := v.takeTurn(ctx, c); err != nil {
		return err
	}
	defer func() { <-c.turn }()

	s, err := v.kept(ctx, c)
	if err != nil {
		return err
	}
	if s != nil {
		ran := s.ran
		err = work(ctx, s)
		if s.ran == ran && schema.CodeOf(err) == schema.CodeConsoleClosed {
			// It had died unnoticed, and no command was entered: a new connection can't run anything twice.
			s.close()
			s = nil
		}
	}
	if s == nil {
		if s, err = v.connect(ctx); err != nil {
			return err
		}
		err = work(ctx, s)
	}
	if !s.broken {
		if homeErr := s.home(context.WithoutCancel(ctx)); err == nil {
			err = homeErr
		}
	}
	if s.broken {
		s.close()
	} else {
		p.park(v.target.Address, c, s)
	}
	return err
}

// about names the console in spans.
func (v *visit) about() attribute.KeyValue { return observe.DeviceKey.String(v.target.Device) }

// takeTurn waits until nobody else of this process uses the console.
func (v *visit) takeTurn(ctx context.Context, c *console) (err error) {
	select {
	case c.turn <- struct{}{}:
		return nil
	default:
	}
	ctx, span := observe.Start(ctx, "wait for console", v.about())
	defer func() { observe.End(span, err) }()
	v.progress("waiting", 0, v.total, "another request is using this console")
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return schema.Errorf(schema.CodeConsoleBusy, "The console of %s (%s) was in use all the time.", v.target.Device, v.target.Address).
			WithHint("Try again when the other request on this device has ended.").WithCause(ctx.Err())
	}
}

// kept gives the session that was kept open, at its prompt; nil when there is none that is sound.
func (v *visit) kept(ctx context.Context, c *console) (*session, error) {
	s := v.pool.unpark(c)
	if s == nil {
		return nil, nil
	}
	s.target = v.target
	var err error
	if s.received == s.parkedAt {
		err = s.climb(ctx) // the last command may have left its level
	} else {
		err = s.resume(ctx)
	}
	if err == nil {
		return s, nil
	}
	s.close()
	if ctx.Err() != nil {
		return nil, err
	}
	return nil, nil
}

// connect gives a new session at its prompt.
func (v *visit) connect(ctx context.Context) (*session, error) {
	v.progress("connecting", 0, v.total, v.target.Address)
	l, err := v.dial(ctx)
	if err != nil {
		return nil, v.dialError(ctx, err)
	}
	s := newSession(v.target, v.pool.options, v.pool.known, l)
	s.boots = v.pool.restarting(v.target.Address)
	if err := v.logOn(ctx, s); err != nil {
		s.close()
		return nil, err
	}
	v.pool.cameBack(v.target.Address)
	s.log.DebugContext(ctx, "console ready", "platform", s.platform.name, "prompt", s.prompt.name)
	return s, nil
}

func (v *visit) dial(ctx context.Context) (l *link, err error) {
	ctx, span := observe.Start(ctx, "console dial", v.about())
	defer func() { observe.End(span, err) }()
	return dial(ctx, v.target.Address, v.pool.options.ConnectTimeout)
}

func (v *visit) logOn(ctx context.Context, s *session) (err error) {
	ctx, span := observe.Start(ctx, "console prompt", v.about())
	defer func() { observe.End(span, err) }()
	return s.logOn(ctx)
}

// dialError says in the user's words why there is no connection.
func (v *visit) dialError(ctx context.Context, err error) error {
	t := v.target
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return aborted(t.Device, "the connection attempt was interrupted", ctx.Err())
	case isRefused(err):
		return schema.Errorf(schema.CodeConsoleRefused, "The console of %s (%s) refuses connections.", t.Device, t.Address).
			WithHint("Check that the node is started. One that was started just now may need a moment.").WithCause(err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return schema.Errorf(schema.CodeConsoleSilent, "The console of %s (%s) does not answer.", t.Device, t.Address).
			WithHint("Check that the node is started and that its console can be reached from here.").WithCause(err)
	}
	return schema.Errorf(schema.CodeConsoleRefused, "The console of %s (%s) can't be reached.", t.Device, t.Address).
		WithHint("Check the console's address.").WithCause(err)
}
