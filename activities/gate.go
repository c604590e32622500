package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
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
