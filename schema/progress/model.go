package progress

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	modelSubject = "model"
	modelWait    = 300 * time.Millisecond
	modelNone    = "none"
	modelThere   = "configured"
)

// AnswerForModel lets a worker say, to whoever asks, whether it has a model. stop ends that. It fails with CodeUnavailable.
func (b *Bus) AnswerForModel(configured bool) (stop func(), err error) {
	answer := modelNone
	if configured {
		answer = modelThere
	}
	sub, err := b.nc.Subscribe(modelSubject, func(m *nats.Msg) { _ = m.Respond([]byte(answer)) }) // nobody has to hear it
	if err != nil {
		return nil, unavailable(fmt.Errorf("answer for the model: %w", err))
	}
	// Who is told that the worker is ready must find it: the server has to know of the subscription by then.
	if err := b.nc.Flush(); err != nil {
		return nil, unavailable(fmt.Errorf("answer for the model: %w", err))
	}
	return func() { _ = sub.Unsubscribe() }, nil // an error means that the connection is gone
}

// NoModel tells whether a worker says that it has no model. Without a worker it is false: a turn waits for one, and sees then.
func (b *Bus) NoModel(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	answer, err := b.nc.RequestWithContext(ctx, modelSubject, nil)
	return err == nil && string(answer.Data) == modelNone
}
