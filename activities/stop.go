package activities

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/progress"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// beat is how often a running activity tells Temporal that it lives, well inside the heartbeat timeout of 5 s. Each beat is a write of
// Temporal's, so what is over within the first needs none.
const beat = 2 * time.Second

var (
	errAborted  = errors.New("the turn was aborted")
	errStopping = errors.New("the worker is stopping")
)

// atStop says what becomes of an activity when its worker is told to stop.
type atStop bool

const (
	leave  atStop = false // another worker begins it anew
	finish atStop = true  // it comes to its end, as long as the worker waits
)

// watched is the context of an activity that may take long. It ends when the turn is aborted, at once by way of NATS or within a
// heartbeat by way of Temporal, and when the worker stops, at once or in the end. release must be called; it waits for the watcher.
func watched(ctx context.Context, bus *progress.Bus, turnID string, stop atStop) (_ context.Context, release func(), err error) {
	run, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	stopWatch, err := bus.OnAbort(turnID, func() { cancel(errAborted) })
	if err != nil {
		cancel(err)
		return nil, nil, err
	}
	var wg sync.WaitGroup
	// Beats go on until the work is over: what is aborted may still be leaving a console tidy. They have a goroutine of their own: they can
	// block for seconds while Temporal is away, and must not hold up the work.
	wg.Go(func() {
		// The first comes at a moment of each activity's own, so that many which began together don't all write at once ever after.
		next := time.NewTimer(beat/2 + rand.N(beat))
		defer next.Stop()
		alive := context.WithoutCancel(ctx) // the SDK sends nothing for a context that has ended
		stopping := activity.GetWorkerStopChannel(ctx)
		if stop == finish {
			stopping = nil
		}
		for {
			select {
			case <-next.C:
				next.Reset(beat)
				activity.RecordHeartbeat(alive)
			case <-stopping:
				cancel(errStopping)
				stopping = nil
			case <-over:
				return
			}
		}
	})
	return run, func() {
		stopWatch()
		cancel(context.Canceled)
		close(over)
		wg.Wait()
	}, nil
}

// aborted tells whether the context ended because the turn was aborted: on NATS, or by Temporal's request to cancel.
func aborted(run context.Context) bool {
	cause := context.Cause(run)
	return cause != nil && (errors.Is(cause, errAborted) || temporal.IsCanceledError(cause))
}

// superseded tells whether it ended for another reason: the worker stops, or Temporal has given the work to another attempt. Then
// nothing of this attempt may be stored as the outcome.
func superseded(run context.Context) bool { return run.Err() != nil && !aborted(run) }

// handedOn is the failure of an attempt that was superseded: the work is done elsewhere.
func handedOn(run context.Context) error {
	return schema.Errorf(schema.CodeUnavailable, "The worker was stopped.").WithCause(context.Cause(run))
}

// settleTime bounds what is still stored and told after a context has ended.
const settleTime = 10 * time.Second

// settle is a context for that.
func settle(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTime)
}

// lastRequest is how long a request may still take after an abort, whose outcome nobody knows once it is cut off.
const lastRequest = 5 * time.Second
