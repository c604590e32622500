package activities

import (
	"context"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/store"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Outcomes of a tool call in the metrics, beside what became of one that needed a human's word.
const (
	outcomeSuccess = "success"
	outcomePartial = "partial" // some of its items succeeded
	outcomeFailed  = "failed"
	outcomeAborted = "aborted"
	outcomeRefused = "refused" // by the policy, or for its arguments
)

// outcome sums a result up.
func outcome(r schema.ToolResponse) string {
	switch {
	case r.Status == schema.OutcomeAborted:
		return outcomeAborted
	case r.Success:
		return outcomeSuccess
	case r.Successful > 0:
		return outcomePartial
	default:
		return outcomeFailed
	}
}

// ended tells that a call has its result.
func (t *Tools) ended(ctx context.Context, id, tool, outcome string) {
	t.Metrics.ToolCall(ctx, tool, outcome)
	t.Log.InfoContext(ctx, "tool call ended", "call", id, "tool", tool, "outcome", outcome)
}

// waited tells how long a call waited for its end, and who ended it.
func (t *Tools) waited(ctx context.Context, a store.Approval) {
	if a.DecidedAt != nil {
		t.Log.InfoContext(ctx, "approval ended", "call", a.ToolCallID, "outcome", a.State, "decided_by", a.DeciderName)
		t.Metrics.Approval(ctx, a.State, max(0, a.DecidedAt.Sub(a.CreatedAt)))
	}
}

// concerns tells the activity's span which call it is for.
func concerns(ctx context.Context, call schema.Call, more ...attribute.KeyValue) {
	trace.SpanFromContext(ctx).SetAttributes(append(more, observe.ToolCallKey.String(call.ID))...)
}
