package activities

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// Times of a lease: it is renewed well before it ends, and who holds it believes in it for a shorter time than the others do.
const (
	leaseLife  = 20 * time.Second
	leaseTrust = 15 * time.Second
	leaseRenew = 5 * time.Second
	leasePoll  = 500 * time.Millisecond
)

// lease is the right to write to a console, across all workers.
type lease struct {
	ctx      context.Context // ends when the lease is given back
	store    *store.Store
	address  string
	holder   string
	who      string
	waited   bool                      // somebody else had it first
	until    atomic.Pointer[time.Time] // by the monotonic clock of this process
	cancel   context.CancelFunc
	renewing sync.WaitGroup
}

// hold waits for the console and keeps it. Who waits sees whose turn it is.
func (t *Tools) hold(ctx context.Context, node gns3.Node, in schema.PushInput) (_ *lease, err error) {
	_, span := observe.Start(ctx, "wait for console", observe.DeviceKey.String(in.Device))
	defer func() { observe.End(span, err) }()
	l := &lease{store: t.Store, address: node.ConsoleAddress, holder: uuid.NewString(), who: fmt.Sprintf("another change, of turn %s", in.TurnID)}
	tick := time.NewTicker(leasePoll)
	defer tick.Stop()
	waiter := &push{tools: t, in: in, end: ctx}
	shown := ""
	for {
		row, taken, err := l.take(ctx)
		if err != nil {
			return nil, err
		}
		if taken {
			l.ctx, l.cancel = context.WithCancel(ctx)
			l.waited = shown != ""
			l.renewing.Go(l.renew)
			return l, nil
		}
		if shown != row.Who {
			shown = row.Who
			waiter.show(schema.DeviceProgress{DeviceName: in.Device, State: schema.DeviceWaiting, Detail: "the console is used by " + row.Who})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *lease) take(ctx context.Context) (store.ConsoleLease, bool, error) {
	trusted := time.Now().Add(leaseTrust)
	row, taken, err := l.store.TakeLease(ctx, l.address, l.holder, l.who, leaseLife)
	if err == nil && taken {
		l.until.Store(&trusted)
	}
	return row, taken, err
}

func (l *lease) renew() {
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		if _, taken, err := l.take(observe.Untraced(l.ctx)); err == nil && !taken {
			return // lost: check says so when the time that is trusted is over
		}
	}
}

// check fails with CodeConsoleBusy when the console may be somebody else's by now.
func (l *lease) check() error {
	if time.Now().After(*l.until.Load()) {
		return schema.Errorf(schema.CodeConsoleBusy, "The right to use this console was lost; the rest is not sent.")
	}
	return nil
}

// drop gives the console back. If that fails the lease ends by itself.
func (l *lease) drop(ctx context.Context) error {
	l.cancel()
	l.renewing.Wait()
	end, cancel := settle(ctx)
	defer cancel()
	return l.store.DropLease(end, l.address, l.holder)
}
