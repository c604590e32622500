package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/policy"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"
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
	// GNS3 is where calls go that are about the lab itself.
	GNS3  *gns3.Client
	Tools *tools.Registry
	// Policy gives the policy as it is now: it can be loaded anew while turns run.
	Policy   func() *policy.Policy
	Consoles Consoles
	Log      *slog.Logger
	Metrics  *observe.Metrics // may be nil
}

// Gate gives the policy's verdict on each call of a step. It runs as a local activity, so that the verdict is recorded and a later
// policy never breaks a replay. A refused call gets its result here, with the reason; one that needs a human's word is stored and told.
func (t *Tools) Gate(ctx context.Context, in schema.GateInput) (schema.GateOutput, error) {
	message, err := t.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err != nil {
		return schema.GateOutput{}, fault(err)
	}
	lab, err := t.shownLab(ctx, in.TurnRef)
	if err != nil {
		return schema.GateOutput{}, fault(err)
	}
	j := judge{tools: t, policy: t.Policy(), in: in, message: message, lab: lab, grants: slices.Clone(in.Grants)}
	var out schema.GateOutput
	for i, call := range in.Calls {
		v, err := j.call(i, call)
		if err != nil {
			if err := t.refuse(ctx, in, call, err); err != nil {
				return schema.GateOutput{}, fault(err)
			}
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	if err := t.Store.AddGranted(ctx, j.granted); err != nil {
		return out, fault(err)
	}
	if err := t.propose(ctx, in, j.proposed); err != nil {
		return out, fault(err)
	}
	return out, fault(t.recall(ctx, in, &out))
}

// recall notes the deadline that people were told, and what became of the calls in an earlier run of the gate: people may have decided meanwhile.
func (t *Tools) recall(ctx context.Context, in schema.GateInput, out *schema.GateOutput) error {
	rows, err := t.Store.Approvals(ctx, in.TurnRef, in.Step)
	if err != nil {
		return err
	}
	for _, a := range rows {
		i := slices.IndexFunc(out.Verdicts, func(v schema.Verdict) bool { return v.ID == a.ToolCallID && v.Approve })
		if i < 0 {
			continue
		}
		out.ExpiresAt = a.ExpiresAt
		if a.State == schema.ApprovalPending {
			continue
		}
		if err := t.resolved(ctx, in.TurnRef, a); err != nil {
			return err
		}
		out.Verdicts[i].State = a.State
	}
	return nil
}

// shownLab is the lab as the turn's model was shown it, which is enough to judge by: a change looks at the lab again before it begins.
func (t *Tools) shownLab(ctx context.Context, ref schema.TurnRef) (gns3.Topology, error) {
	turn, err := t.Store.Turn(ctx, ref)
	if err != nil {
		return gns3.Topology{}, err
	}
	return labOf(turn)
}

// labOf is the lab that a turn keeps, empty before it has one.
func labOf(turn store.Turn) (lab gns3.Topology, err error) {
	if turn.Topology != "" {
		err = json.Unmarshal([]byte(turn.Topology), &lab)
	}
	return lab, err
}

// maxRequired bounds a hitl_required event, in bytes, under what the event stream takes. A larger one comes without arguments and previews;
// hitl-status has them.
const maxRequired = 4 << 20

// propose stores the calls that wait for a human's word and tells readers, all calls of the message together.
func (t *Tools) propose(ctx context.Context, in schema.GateInput, rows []store.Approval) error {
	if len(rows) == 0 {
		return nil
	}
	if err := t.Store.AddApprovals(ctx, rows); err != nil {
		return err
	}
	for _, a := range rows {
		t.Log.InfoContext(ctx, "approval asked for", "call", a.ToolCallID, "tool", a.ToolName, "danger", a.Danger)
	}
	ev := schema.Event{
		Type: schema.EventHITLRequired, HITLSessionID: rows[0].HITLSessionID,
		HITLRequired: &schema.HITLRequired{Timeout: in.ApprovalWait, ExpiresAt: in.ExpiresAt},
	}
	for _, a := range rows {
		ev.PendingTools = append(ev.PendingTools, a.View(time.Now()))
	}
	if len(schema.Text(ev)) > maxRequired {
		for i := range ev.PendingTools {
			ev.PendingTools[i].ToolArgs, ev.PendingTools[i].Preview = nil, nil
		}
	}
	return t.Bus.Publish(ctx, in.TurnRef, ev, "required/"+rows[0].HITLSessionID)
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
	m, added, err := t.Store.PutResult(ctx, in.TurnRef, in.Step, call.ID, string(schema.TextIndent(r)), "")
	if err != nil {
		return err
	}
	if added {
		t.ended(ctx, call.ID, call.Name, outcomeRefused)
	}
	return t.Bus.Publish(ctx, in.TurnRef, toolEnd(m), "end/"+call.ID)
}
