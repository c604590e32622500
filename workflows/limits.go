package workflows

import (
	"gns3copilot/schema"

	"go.temporal.io/sdk/workflow"
)

// stopAtLimit gives the end of a turn that may not ask the model once more; over is false while it may.
func (t *turn) stopAtLimit() (end ending, over bool) {
	if t.in.Steps-t.step < t.in.StopBelow {
		return ending{reason: schema.StopSteps}, true
	}
	reached := t.in.Limits.OfTurn(t.usage)
	if reached == nil && t.day.Date == schema.Date(workflow.Now(t.books)) {
		reached = t.in.Limits.OfDay(t.day)
	}
	if reached == nil {
		return ending{}, false
	}
	return ending{reason: reached.Reason, limit: reached}, true
}

// stopBefore gives the end of a turn whose last step asks for more tool calls than are left to it. None of them is run: half a step is what
// nobody asked for. Each gets its result, which says so.
func (t *turn) stopBefore(calls []schema.Call) (end ending, over bool) {
	most := t.in.Limits.ToolCalls
	if most == 0 || t.usage.ToolCalls+len(calls) <= most {
		return ending{}, false
	}
	t.closeCalls(t.books, calls, schema.ClosingFailed, &schema.Failure{
		Code: schema.CodeUsageLimit, Message: "This call was not run: it is one too many for one message.",
		Hint: "Ask the user whether to go on.",
	})
	return ending{reason: schema.StopToolCalls, limit: &schema.LimitReached{
		Reason: schema.StopToolCalls, Used: int64(t.usage.ToolCalls), Limit: int64(most), Asked: len(calls),
	}}, true
}
