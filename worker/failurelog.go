package worker

import (
	"context"
	"errors"
	"log/slog"

	"gns3copilot/activities"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
)

// failureLog writes the whole cause of a failed activity to our log, since Temporal is told the user's part of it alone.
type failureLog struct {
	interceptor.WorkerInterceptorBase
	log *slog.Logger
}

// InterceptActivity wraps each activity.
func (f *failureLog) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityLog{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, log: f.log}
}

type activityLog struct {
	interceptor.ActivityInboundInterceptorBase
	log *slog.Logger
}

// ExecuteActivity runs the activity and logs how it failed.
func (a *activityLog) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	out, err := a.Next.ExecuteActivity(ctx, in)
	if err != nil {
		info := activity.GetInfo(ctx)
		shown := err
		var cause activities.Cause
		if errors.As(err, &cause) {
			shown = cause.Err
		}
		level := slog.LevelWarn
		var app *temporal.ApplicationError
		if errors.As(err, &app) && app.Category() == temporal.ApplicationErrorCategoryBenign {
			level = slog.LevelInfo
		}
		a.log.Log(ctx, level, "activity failed", "activity", info.ActivityType.Name, "attempt", info.Attempt,
			"workflow", info.WorkflowExecution.ID, "run", info.WorkflowExecution.RunID, "error", shown)
	}
	return out, err
}
