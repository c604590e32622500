// Package worker is the one list of what runs on Temporal, and how.
package worker

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gns3copilot/activities"
	"gns3copilot/schema"
	"gns3copilot/workflows"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Options says what a worker process runs. Its fields are all needed.
type Options struct {
	Client client.Client
	Turns  *activities.Turns
	Models *activities.Models
	Tools  *activities.Tools
	Log    *slog.Logger
}

// Workers polls the task queues until it is stopped.
type Workers struct{ all []worker.Worker }

// stopTimeout lets what is at work on a device come to its end.
const stopTimeout = 30 * time.Second

// Start registers everything and begins to poll.
func Start(o Options) (*Workers, error) {
	main := worker.New(o.Client, schema.TaskQueue, options(o.Log))
	main.RegisterWorkflowWithOptions(workflows.ChatTurn, workflow.RegisterOptions{Name: schema.WorkflowChatTurn})
	main.RegisterWorkflowWithOptions(workflows.TestModel, workflow.RegisterOptions{Name: schema.WorkflowTestModel})
	main.RegisterActivity(o.Turns)
	main.RegisterActivity(o.Models)
	main.RegisterActivity(o.Tools)

	devices := worker.New(o.Client, schema.TaskQueueDevices, options(o.Log))
	devices.RegisterActivity(o.Tools)

	w := &Workers{}
	for _, next := range []worker.Worker{main, devices} {
		if err := next.Start(); err != nil {
			w.Stop()
			return nil, fmt.Errorf("start worker: %w", err)
		}
		w.all = append(w.all, next)
	}
	return w, nil
}

// Stop ends the polling and waits for what runs.
func (w *Workers) Stop() {
	var wg sync.WaitGroup
	for _, one := range w.all {
		wg.Go(one.Stop)
	}
	wg.Wait()
}

// throttle is the least time between two heartbeats of an activity, and how long one may take: under load Temporal needs more than a second.
const throttle = 2 * time.Second

// options are the same on every queue. The times are measured: with the SDK's defaults a decision after a worker's restart takes
// 5 s, with a sticky timeout of 1 s it takes 1 s.
func options(log *slog.Logger) worker.Options {
	return worker.Options{
		WorkflowTaskPollerBehavior:       worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior:       worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		StickyScheduleToStartTimeout:     time.Second,
		WorkerStopTimeout:                stopTimeout,
		MaxHeartbeatThrottleInterval:     throttle,
		DefaultHeartbeatThrottleInterval: throttle,
		Interceptors:                     []interceptor.WorkerInterceptor{&identify{}, &failureLog{log: log}},
	}
}
