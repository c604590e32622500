package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/progress"

	"go.temporal.io/sdk/activity"
)

// beat is how often a running activity tells Temporal that it lives, well inside the heartbeat timeout of 5 s.
const beat = time.Second

var (
	errAborted  = errors.New("the turn was aborted")
	errStopping = errors.New("the worker is stopping")
)

// watched is the context of an activity that may take long. It ends when the turn is aborted, at once by way of NATS or within a
// heartbeat by way of Temporal, and when the worker stops. release must be called; it waits for the watcher.
func watched(ctx context.Context, bus *progress.Bus, turnID string) (_ context.Context, release func(), err error) {
	run, cancel := context.WithCancelCause(ctx)
	stopWatch, err := bus.OnAbort(turnID, func() { cancel(errAborted) })
	if err != nil {
		cancel(err)
		return nil, nil, err
	}
	var wg sync.WaitGroup
	// Heartbeats have a goroutine of their own: they can block for seconds while Temporal is away, and must not hold up the work.
	wg.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			activity.RecordHeartbeat(ctx)
			select {
			case <-tick.C:
			case <-activity.GetWorkerStopChannel(ctx):
				cancel(errStopping)
				return
			case <-run.Done():
				return
			}
		}
	})
	return run, func() {
		stopWatch()
		cancel(context.Canceled)
		wg.Wait()
	}, nil
}

// aborted tells whether the context ended because the turn was aborted; a stopping worker leaves its work to the next one.
func aborted(run context.Context) bool {
	return run.Err() != nil && !errors.Is(context.Cause(run), errStopping)
}

// stopping is the failure of an activity whose worker goes away: it is tried again elsewhere.
func stopping() error {
	return schema.Errorf(schema.CodeUnavailable, "The worker was stopped.").WithCause(errStopping)
}

// settleTime bounds what is still stored and told after a context has ended.
const settleTime = 10 * time.Second

// settle is a context for that.
func settle(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTime)
}
