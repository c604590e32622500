package worker

import (
	"context"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"go.temporal.io/sdk/interceptor"
)

// identify lets the log lines and the span of an activity carry the ids of the turn that it is for.
type identify struct {
	interceptor.WorkerInterceptorBase
}

// InterceptActivity wraps each activity.
func (*identify) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &identified{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type identified struct {
	interceptor.ActivityInboundInterceptorBase
}

// ExecuteActivity finds the turn in the activity's input.
func (i *identified) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx = observe.WithIDs(ctx, "")
	for _, arg := range in.Args {
		if about, ok := arg.(interface{ Ref() schema.TurnRef }); ok {
			observe.SetTurn(ctx, about.Ref().TurnID)
			observe.SetUser(ctx, about.Ref().UserID)
		}
	}
	return i.Next.ExecuteActivity(ctx, in)
}
