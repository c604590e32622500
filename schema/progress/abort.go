package progress

import (
	"encoding/json"
	"fmt"
	"time"

	"gns3copilot/schema"

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

func decisionSubject(id string) string { return "decision." + id }

// Acknowledge tells whoever waits for it what the turn made of a decision. Nobody has to wait.
func (b *Bus) Acknowledge(decisionID string, out schema.RecordDecisionOutput) error {
	return unavailable(b.nc.Publish(decisionSubject(decisionID), schema.Text(out)))
}

// OnDecision gives a channel with what the turn makes of a decision; stop ends the watch. It fails with CodeUnavailable.
func (b *Bus) OnDecision(id string) (outcome <-chan schema.RecordDecisionOutput, stop func(), err error) {
	c := make(chan schema.RecordDecisionOutput, 1)
	sub, err := b.nc.Subscribe(decisionSubject(id), func(m *nats.Msg) {
		var out schema.RecordDecisionOutput
		if json.Unmarshal(m.Data, &out) == nil {
			select {
			case c <- out:
			default: // it was told before
			}
		}
	})
	if err != nil {
		return nil, nil, unavailable(fmt.Errorf("watch for the decision: %w", err))
	}
	return c, func() { _ = sub.Unsubscribe() }, nil
}
