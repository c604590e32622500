package activities

import (
	"context"
	"slices"
	"time"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"go.temporal.io/sdk/activity"
)

// RunTool runs one call that only reads, and stores and tells its result. What goes wrong on a device or with the arguments is the
// result; an error is a fault of ours or of a neighbour's, and is tried again.
func (t *Tools) RunTool(ctx context.Context, in schema.RunToolInput) (schema.RunToolOutput, error) {
	concerns(ctx, in.Call)
	message, err := t.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	run, release, err := watched(ctx, t.Bus, in.TurnID, finish)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	defer release()
	start := schema.Event{Type: schema.EventToolStart, ToolName: in.Call.Name, ToolCallID: in.Call.ID}
	if err := t.Bus.Publish(run, in.TurnRef, start, "start/"+in.Call.ID); err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	began := time.Now()
	items, failure := t.execute(run, message, in)
	out := schema.RunToolOutput{Aborted: aborted(run)}
	switch {
	case superseded(run):
		return out, fault(handedOn(run))
	case failure != nil && !out.Aborted && needsRetry(failure, int(activity.GetInfo(ctx).Attempt)):
		trouble(ctx, t.Bus, t.Log, in.TurnRef, "", failure)
		return out, fault(failure)
	}
	response := respond(in.Call.Name, items, failure, out.Aborted, time.Since(began))
	out.Successful, out.Failed = response.Successful, response.Failed
	end, cancel := settle(ctx)
	defer cancel()
	out.Bytes, err = t.keep(end, in, response)
	trouble(ctx, t.Bus, t.Log, in.TurnRef, "", err)
	return out, fault(err)
}

// respond makes the call's result. A call that had ended before the abort reached it keeps its real one.
func respond(tool string, items []schema.ToolItem, failure error, wasAborted bool, took time.Duration) schema.ToolResponse {
	if failure != nil && wasAborted {
		failure = schema.Errorf(schema.CodeAborted, "Aborted by the user.")
	}
	response := schema.NewToolResponse(tool, items, took, time.Now())
	if failure != nil {
		response = schema.FailedToolResponse(tool, failure, took, time.Now())
	}
	cutShort := func(it schema.ToolItem) bool { return it.Outcome == schema.OutcomeAborted }
	if wasAborted && (failure != nil || slices.ContainsFunc(items, cutShort)) {
		response.Status = schema.OutcomeAborted
	}
	return response
}

// needsRetry tells apart what the model should hear about from what may be gone at the next try. A missing credential is neither: the
// turn waits for its owner.
func needsRetry(failure error, attempt int) bool {
	e := schema.AsError(failure)
	return e.Code == schema.CodeCredentialMissing || (retryable(e) && attempt < schema.ToolAttempts)
}

func (t *Tools) execute(ctx context.Context, message store.Message, in schema.RunToolInput) ([]schema.ToolItem, error) {
	tool, args, err := t.resolve(message, in.Call, in.Mode)
	if err != nil {
		return nil, err
	}
	return tool.Execute(ctx, t.env(ctx, in), args)
}

// env is what a call that reads may use.
func (t *Tools) env(ctx context.Context, in schema.RunToolInput) tools.Env {
	return tools.Env{
		Ref: in.TurnRef,
		Topology: func(ctx context.Context) (gns3.Topology, error) {
			return readLab(ctx, t.credentials(), t.Lab, in.TurnRef)
		},
		Lab: func(ctx context.Context) (tools.Access, error) { return t.access(ctx, in.TurnRef) },
		MayUse: func(ctx context.Context, n gns3.Node) error {
			return mayUseConsole(ctx, t.credentials(), t.Lab, in.TurnRef, n)
		},
		Output: func(ctx context.Context, callID string) (string, error) {
			return t.Store.ToolOutput(ctx, in.TurnRef, callID)
		},
		Progress: func(p schema.DeviceProgress) { t.tellDevice(ctx, in, p) },
	}
}

// tellDevice is for watching only, so a failure doesn't stop the work.
func (t *Tools) tellDevice(ctx context.Context, in schema.RunToolInput, p schema.DeviceProgress) {
	ev := schema.Event{Type: schema.EventDeviceProgress, ToolCallID: in.Call.ID, DeviceProgress: &p}
	if err := t.Bus.Tell(in.TurnRef, ev, ""); err != nil {
		t.Log.WarnContext(ctx, "device progress not published", "turn", in.TurnID, "error", err)
	}
}

// maxResultText bounds all items of one result together, in bytes, well under what the event stream takes.
const maxResultText = 2 << 20

// keep stores the result, cut for history and model with the whole beside it, and tells readers.
func (t *Tools) keep(ctx context.Context, in schema.RunToolInput, r schema.ToolResponse) (int, error) {
	each := min(schema.MaxItemText, maxResultText/max(1, len(r.Data)))
	cut, wasCut := r.Cut(each)
	whole := ""
	if wasCut {
		whole = string(schema.TextIndent(r))
		cut = cut.WithExtra("whole", schema.HowToRead(in.Call.ID))
	}
	content := string(schema.TextIndent(cut))
	m, added, err := t.Store.PutResult(ctx, in.TurnRef, in.Step, in.Call.ID, content, whole)
	if err != nil {
		return 0, err
	}
	if added {
		t.ended(ctx, in.Call.ID, in.Call.Name, outcome(r))
	}
	return len(m.Content), t.Bus.Publish(ctx, in.TurnRef, toolEnd(m), "end/"+in.Call.ID)
}
