package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"

	"go.temporal.io/sdk/activity"
)

// Tools decides on tool calls and runs them.
type Tools struct {
	Store *store.Store
	Bus   *progress.Bus
	Vault *vault.Vault
	Lab   Lab
	Tools *tools.Registry
	Log   *slog.Logger
}

// Gate gives the policy's verdict on each call of a step. It runs as a local activity, so that the verdict is recorded and a later
// policy never breaks a replay. A refused call gets its result here, with the reason.
func (t *Tools) Gate(ctx context.Context, in schema.GateInput) (schema.GateOutput, error) {
	message, err := t.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err != nil {
		return schema.GateOutput{}, fault(err)
	}
	var out schema.GateOutput
	for _, call := range in.Calls {
		v, err := t.judge(message, call, in.Mode)
		if err != nil {
			if err := t.refuse(ctx, in, call, err); err != nil {
				return schema.GateOutput{}, fault(err)
			}
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	return out, nil
}

// judge says whether and where a call may run; an error is the reason why it may not.
func (t *Tools) judge(message store.Message, call schema.Call, mode schema.Mode) (schema.Verdict, error) {
	v := schema.Verdict{Call: call}
	tool, args, err := t.resolve(message, call, mode)
	if err != nil {
		return v, err
	}
	v.Summary, v.Queue = tool.Metadata().Name, schema.TaskQueue
	if tool.Metadata().Category == tools.CategoryDevice {
		v.Queue = schema.TaskQueueDevices
	}
	if p, ok := tool.(tools.Planner); ok {
		if v.Summary, err = p.Plan(args); err != nil {
			return schema.Verdict{Call: call}, err
		}
	}
	v.Run = true
	return v, nil
}

// resolve finds the call's tool and arguments, which must be those that the hash was made of.
func (t *Tools) resolve(message store.Message, call schema.Call, mode schema.Mode) (tools.Tool, json.RawMessage, error) {
	stored, ok := message.Call(call.ID)
	if !ok || tools.HashArguments(stored.Arguments) != call.ArgsSHA256 {
		return nil, nil, schema.Errorf(schema.CodeRefused, "The call's arguments are not the ones that were decided on. Nothing was done.")
	}
	return t.Tools.Resolve(stored.Name, stored.Arguments, mode)
}

func (t *Tools) refuse(ctx context.Context, in schema.GateInput, call schema.Call, reason error) error {
	r := schema.FailedToolResponse(call.Name, reason, 0, time.Now())
	m, _, err := t.Store.PutResult(ctx, in.TurnRef, in.Step, call.ID, string(schema.TextIndent(r)), "")
	if err != nil {
		return err
	}
	return t.Bus.Publish(ctx, in.TurnRef, toolEnd(m), "end/"+call.ID)
}

// RunTool runs one call that only reads, and stores and tells its result. What goes wrong on a device or with the arguments is the
// result; an error is a fault of ours or of a neighbour's, and is tried again.
func (t *Tools) RunTool(ctx context.Context, in schema.RunToolInput) (schema.RunToolOutput, error) {
	message, err := t.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	run, release, err := watched(ctx, t.Bus, in.TurnID)
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
	if run.Err() != nil && !aborted(run) {
		return schema.RunToolOutput{}, fault(stopping())
	}
	if failure != nil && !aborted(run) && needsRetry(failure, int(activity.GetInfo(ctx).Attempt)) {
		return schema.RunToolOutput{}, fault(failure)
	}
	response := schema.NewToolResponse(in.Call.Name, items, time.Since(began), time.Now())
	switch {
	case aborted(run) && items == nil:
		failure = schema.Errorf(schema.CodeAborted, "Aborted by the user.")
		fallthrough
	case failure != nil:
		response = schema.FailedToolResponse(in.Call.Name, failure, time.Since(began), time.Now())
	}
	out := schema.RunToolOutput{Successful: response.Successful, Failed: response.Failed, Aborted: aborted(run)}
	if out.Aborted {
		response.Status = "aborted"
	}
	end, cancel := settle(ctx)
	defer cancel()
	out.Bytes, err = t.keep(end, in, response)
	return out, fault(err)
}

// needsRetry tells apart what the model should hear about from what may be gone at the next try. A missing credential is neither: the
// turn waits for its owner.
func needsRetry(failure error, attempt int) bool {
	code := schema.CodeOf(failure)
	return code == schema.CodeCredentialMissing || (retryable(code) && attempt < schema.ToolAttempts)
}

func (t *Tools) execute(ctx context.Context, message store.Message, in schema.RunToolInput) ([]schema.ToolItem, error) {
	tool, args, err := t.resolve(message, in.Call, in.Mode)
	if err != nil {
		return nil, err
	}
	return tool.Execute(ctx, tools.Env{
		Ref: in.TurnRef,
		Topology: func(ctx context.Context) (gns3.Topology, error) {
			token, err := t.Vault.Token(ctx, in.TurnID, in.UserID)
			if err != nil {
				return gns3.Topology{}, err
			}
			return t.Lab.Topology(ctx, token, in.ProjectID)
		},
		Progress: func(p schema.DeviceProgress) { t.tellDevice(ctx, in, p) },
	}, args)
}

// tellDevice is for watching only, so a failure doesn't stop the work.
func (t *Tools) tellDevice(ctx context.Context, in schema.RunToolInput, p schema.DeviceProgress) {
	ev := schema.Event{Type: schema.EventDeviceProgress, ToolCallID: in.Call.ID, DeviceProgress: &p}
	if err := t.Bus.Tell(in.TurnRef, ev); err != nil {
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
	}
	content := string(schema.TextIndent(cut))
	m, _, err := t.Store.PutResult(ctx, in.TurnRef, in.Step, in.Call.ID, content, whole)
	if err != nil {
		return 0, err
	}
	return len(m.Content), t.Bus.Publish(ctx, in.TurnRef, toolEnd(m), "end/"+in.Call.ID)
}
