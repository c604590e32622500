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
	doubted  bool // the node may have gone elsewhere since its address was read
}

// movedError says where the node's console is by now.
type movedError struct{ address string }

func (e *movedError) Error() string { return "the console has moved to " + e.address }

// do lets work use the console, which stands at its base prompt, and leaves it there. Work is called a second time, on a
// new connection, when the kept one has died and work had entered nothing on it.
func (v *visit) do(ctx context.Context, work func(context.Context, *session) error) (err error) {
	ctx, span := observe.Start(ctx, "console visit", v.about())
	defer func() { observe.End(span, err) }()
	p := v.pool
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.ctx, func() { cancel(errPoolClosed) })()
	for {
		err = v.use(ctx, work)
		moved, ok := errors.AsType[*movedError](err)
		if !ok {
			return err
		}
		v.target.Address = moved.address
	}
}

// use is do at one address. It fails with a movedError, before anything is typed, when the node is not there any more.
func (v *visit) use(ctx context.Context, work func(context.Context, *session) error) error {
	p := v.pool
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
			s, v.doubted = nil, true
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
	v.doubted = true
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
	s, ended := v.pool.unpark(c)
	if s != nil && s.target.node() != v.target.node() {
		// One of the two nodes was there a moment ago, the other is now.
		s.close()
		s, ended = nil, true
	}
	if s == nil {
		v.doubted = v.doubted || ended
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
	v.doubted = true
	return nil, nil
}

// locate makes sure that the node is still at its address. It fails with a movedError when it isn't, and as the target's Locate.
func (v *visit) locate(ctx context.Context) error {
	v.doubted = false
	if v.target.Locate == nil {
		return nil
	}
	address, err := v.target.Locate(ctx)
	if err == nil && address != v.target.Address {
		err = &movedError{address}
	}
	return err
}

// connect gives a new session at its prompt.
func (v *visit) connect(ctx context.Context) (*session, error) {
	if v.doubted {
		if err := v.locate(ctx); err != nil {
			return nil, err
		}
	}
	v.progress("connecting", 0, v.total, v.target.Address)
	l, refused, err := v.dial(ctx)
	if refused && ctx.Err() == nil {
		// Whoever listens there after that need not be the node.
		if gone := v.locate(ctx); gone != nil {
			if l != nil {
				l.close()
			}
			return nil, gone
		}
	}
	if err != nil {
		return nil, v.dialError(ctx, err)
	}
	s := newSession(v.target, v.pool.options, v.pool.known, l)
	s.boots = v.pool.restarting(v.target.node())
	if err := v.logOn(ctx, s); err != nil {
		s.close()
		return nil, err
	}
	v.pool.cameBack(v.target.node())
	s.log.DebugContext(ctx, "console ready", "platform", s.platform.name, "prompt", s.prompt.name)
	return s, nil
}

func (v *visit) dial(ctx context.Context) (_ *link, refused bool, err error) {
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
			WithHint("Check that the node is started. One that was started just now may need a moment. %s", whereFrom(t.Address)).WithCause(err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return schema.Errorf(schema.CodeConsoleSilent, "The console of %s (%s) does not answer.", t.Device, t.Address).
			WithHint("Check that the node is started. %s", whereFrom(t.Address)).WithCause(err)
	}
	return schema.Errorf(schema.CodeConsoleRefused, "The console of %s (%s) can't be reached.", t.Device, t.Address).
		WithHint("Check the console's address. %s", whereFrom(t.Address)).WithCause(err)
}

// whereFrom says what else stands between a worker and a console that runs.
func whereFrom(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); host == "localhost" || ip.IsLoopback() {
		return host + " is the machine that the worker runs on: for a node on another one, run a worker there, or let that compute's consoles " +
			"listen on an address that can be reached from here."
	}
	return "The worker needs the telnet port itself; consoles that GNS3 passes on over WebSocket are not supported."
}
