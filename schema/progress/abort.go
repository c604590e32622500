package progress

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// inactive is how long the server keeps a reader's place after the reader is gone.
const inactive = 30 * time.Second

func abortSubject(turnID string) string { return "abort." + turnID }

// Abort tells whatever runs for the turn to stop at once. It is the fast path beside the workflow's signal, which is the one that
// can't be lost.
func (b *Bus) Abort(turnID string) error {
	if err := b.nc.Publish(abortSubject(turnID), nil); err != nil {
		return unavailable(fmt.Errorf("publish abort: %w", err))
	}
	return nil
}

// OnAbort calls fn, from another goroutine, when the turn is aborted. stop ends the watch. It fails with CodeUnavailable.
func (b *Bus) OnAbort(turnID string, fn func()) (stop func(), err error) {
	sub, err := b.nc.Subscribe(abortSubject(turnID), func(*nats.Msg) { fn() })
	if err != nil {
		return nil, unavailable(fmt.Errorf("watch for abort: %w", err))
	}
	return func() {
		// An error means that the connection is gone, and the subscription with it.
		_ = sub.Unsubscribe()
	}, nil
}
