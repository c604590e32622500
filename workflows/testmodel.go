package workflows

import (
	"time"

	"gns3copilot/schema"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Bounds of a try: whoever asked for it waits.
const (
	tryBound  = 60 * time.Second
	tryQueued = 10 * time.Second
)

// TestModel tries a model configuration once.
func TestModel(ctx workflow.Context, in schema.ModelTestInput) (schema.ModelTest, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              schema.TaskQueue,
		StartToCloseTimeout:    tryBound,
		ScheduleToStartTimeout: tryQueued,
		HeartbeatTimeout:       heartbeat,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                "Try the model",
	})
	var out schema.ModelTest
	err := workflow.ExecuteActivity(ctx, schema.ActivityTryModel, in).Get(ctx, &out)
	return out, err
}
