package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"gns3copilot/activities/llm"
	"gns3copilot/activities/price"
	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"go.temporal.io/sdk/activity"
)

// Ledger keeps the books of what model calls use.
type Ledger struct {
	Store  *store.Store
	Prices *price.Table
	Log    *slog.Logger
}

// note books an activity's call of a model, however it ended, and gives what its step has used by now and its user today. A call that can't
// be booked is logged and counts for its turn alone: an answer isn't lost for that.
func (l *Ledger) note(ctx context.Context, ref schema.TurnRef, step int, purpose store.Purpose, asked ModelSettings, answer llm.Answer, failure error) (schema.Usage, *schema.DaySum) {
	if failure != nil && answer.Usage == (llm.Usage{}) { // nothing was sent
		return schema.Usage{}, nil
	}
	end, cancel := settle(ctx)
	defer cancel()
	info := activity.GetInfo(ctx)
	call := store.ModelCall{
		TurnID: ref.TurnID, Call: fmt.Sprintf("%s/%s/%d", info.WorkflowExecution.RunID, info.ActivityID, info.Attempt),
		Step: step, Attempt: int(info.Attempt), Purpose: purpose, UserID: ref.UserID, ProjectID: ref.ProjectID,
		ConfigName: asked.Name, Provider: asked.Provider, Model: asked.Model,
	}
	l.weigh(&call, asked, answer, failure)
	used, day, err := l.Store.NoteCall(end, call)
	if err != nil {
		l.Log.ErrorContext(ctx, "model call not booked", "turn", ref.TurnID, "step", step, "error", err)
		return call.Usage(), nil
	}
	return used, &day
}

// weigh fills in what the call has used and what that costs.
func (l *Ledger) weigh(call *store.ModelCall, asked ModelSettings, answer llm.Answer, failure error) {
	if !refused(answer, failure) {
		call.InputTokens = min(max(answer.Usage.Input, 0), price.MostTokens)
		call.OutputTokens = min(max(answer.Usage.Output, 0), price.MostTokens)
		call.Estimated = answer.Usage.Estimated
	}
	p, known := l.Prices.Of(asked.Provider, asked.Model)
	if asked.Price != nil {
		p, known = *asked.Price, true
	}
	if known {
		call.CostMicroUSD = p.Cost(call.InputTokens, call.OutputTokens)
	}
	call.CostKnown = known || call.InputTokens+call.OutputTokens == 0
}

// refused tells whether a failed call got no answer at all, so that it has most likely used nothing; the client's estimate is of its request
// then. One that was aborted or took too long was being worked on.
func refused(answer llm.Answer, failure error) bool {
	working := errors.Is(failure, context.Canceled) || errors.Is(failure, context.DeadlineExceeded)
	return failure != nil && !working && answer.Usage.Estimated && answer.Usage.Output == 0
}

// step gives what a step has used that has its answer already, and its user today.
func (l *Ledger) step(ctx context.Context, ref schema.TurnRef, step int) (schema.Usage, *schema.DaySum) {
	used, day, err := l.Store.StepUsage(ctx, ref, step)
	if err != nil {
		l.Log.ErrorContext(ctx, "usage not read", "turn", ref.TurnID, "step", step, "error", err)
		return schema.Usage{}, nil
	}
	return used, &day
}
