package schema

import (
	"context"
	"time"
)

// Outlive is a context for what goes on when ctx ends, and is given up that long after. cancel must be called.
func Outlive(ctx context.Context, by time.Duration) (_ context.Context, cancel context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	late := time.AfterFunc(by, end)
	late.Stop() // until ctx ends
	stay := context.AfterFunc(ctx, func() { late.Reset(by) })
	return longer, func() {
		stay()
		late.Stop()
		end()
	}
}
