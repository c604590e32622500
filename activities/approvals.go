package activities

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// RecordDecision applies a human's word to the calls that wait for it, tells readers, and acknowledges it to the API. The first word on each
// call stands.
func (t *Tools) RecordDecision(ctx context.Context, in schema.RecordDecisionInput) (schema.RecordDecisionOutput, error) {
	refused, err := t.unfit(ctx, in)
	if err != nil {
		return schema.RecordDecisionOutput{}, fault(err)
	}
	out, err := t.Store.Decide(ctx, in.TurnRef, in.Step, in.Decision, refused)
	if err != nil {
		return out, fault(err)
	}
	rows, err := t.Store.Approvals(ctx, in.TurnRef, in.Step)
	if err != nil {
		return out, fault(err)
	}
	for _, a := range rows {
		i := slices.IndexFunc(out.Calls, func(c schema.DecidedCall) bool { return c.ID == a.ToolCallID })
		if a.State == schema.ApprovalPending || i < 0 {
			continue
		}
		if out.Calls[i].Applied {
			t.waited(ctx, a)
		}
		if err := t.resolved(ctx, in.TurnRef, a); err != nil {
			return out, fault(err)
		}
	}
	return out, fault(t.Bus.Acknowledge(in.Decision.ID, out))
}

// unfit says why a decision's modified arguments could never be run: a device that isn't there, or lines that the policy refuses.
func (t *Tools) unfit(ctx context.Context, in schema.RecordDecisionInput) (string, error) {
	d, err := t.Store.Decision(ctx, in.Decision.ID)
	if err != nil || d.Action != schema.DecideModify {
		return "", err
	}
	rows, err := t.Store.Approvals(ctx, in.TurnRef, in.Step)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(rows, func(a store.Approval) bool { return slices.Contains(d.CallIDs, a.ToolCallID) })
	if i < 0 {
		return "", nil
	}
	turn, err := t.Store.Turn(ctx, in.TurnRef)
	if err != nil {
		return "", err
	}
	lab, err := labOf(turn)
	if err != nil {
		return "", err
	}
	if err := t.runnable(rows[i].ToolName, d.ModifiedArgs, turn.Mode, lab); err != nil {
		return schema.AsError(err).Message, nil
	}
	return "", nil
}

// runnable fails with what keeps a call from ever being run in the lab.
func (t *Tools) runnable(name, arguments string, mode schema.Mode, lab gns3.Topology) error {
	tool, args, err := t.Tools.Resolve(name, arguments, mode)
	if err != nil {
		return err
	}
	if changer, ok := tool.(tools.LabChanger); ok {
		plan, err := changer.Plan(args, lab)
		for _, c := range plan {
			err = cmp.Or(err, c.Problem)
		}
		return err
	}
	changer, ok := tool.(tools.Changer)
	if !ok {
		return nil
	}
	list, err := changer.Changes(args)
	if err != nil {
		return err
	}
	list = tools.ByDevice(list, lab)
	for _, c := range list {
		if _, err := lab.Find(c.Device); err != nil {
			return err
		}
	}
	ruling, _ := tools.Judge(t.Policy(), lab, list)
	return ruling.Error()
}

// EndApprovals ends what still waits of a step, because its time is over or the turn was aborted.
func (t *Tools) EndApprovals(ctx context.Context, in schema.ExpireInput) (schema.ExpireOutput, error) {
	out := schema.ExpireOutput{Ended: []string{}}
	ended, err := t.Store.EndApprovals(ctx, in)
	if err != nil {
		return out, fault(err)
	}
	for _, a := range ended {
		t.waited(ctx, a)
		if err := t.resolved(ctx, in.TurnRef, a); err != nil {
			return out, fault(err)
		}
		out.Ended = append(out.Ended, a.ToolCallID)
	}
	rows, err := t.Store.Approvals(ctx, in.TurnRef, in.Step)
	if err != nil {
		return out, fault(err)
	}
	for _, a := range rows {
		if !slices.Contains(in.Calls, a.ToolCallID) || slices.Contains(out.Ended, a.ToolCallID) {
			continue
		}
		if err := t.resolved(ctx, in.TurnRef, a); err != nil {
			return out, fault(err)
		}
		out.Decided = append(out.Decided, schema.DecidedCall{ID: a.ToolCallID, State: a.State})
	}
	return out, nil
}

// resolved tells readers what became of a call, and gives it its result unless it is to run.
func (t *Tools) resolved(ctx context.Context, ref schema.TurnRef, a store.Approval) error {
	ev := schema.Event{
		Type: schema.EventHITLResolved, HITLSessionID: a.HITLSessionID, ToolCallID: a.ToolCallID, Reason: a.Reason,
		HITLResolved: &schema.HITLResolved{Outcome: a.State, DecidedBy: a.DeciderName},
	}
	if err := t.Bus.Publish(ctx, ref, ev, "resolved/"+a.ToolCallID); err != nil {
		return err
	}
	if a.State == schema.ApprovalConfirmed {
		return nil
	}
	m, added, err := t.Store.PutResult(ctx, ref, a.Step, a.ToolCallID, string(schema.TextIndent(undone(a))), "")
	if err != nil {
		return err
	}
	if added {
		t.ended(ctx, a.ToolCallID, a.ToolName, string(a.State))
	}
	return t.Bus.Publish(ctx, ref, toolEnd(m), "end/"+a.ToolCallID)
}

// maxSummary bounds the part of a modification's result that only repeats it, in bytes.
const maxSummary = 16 << 10

// undone is the result of a call that a human, or the clock, kept from running: an item for each device, and words that can't be taken
// for an empty output.
func undone(a store.Approval) schema.ToolResponse {
	why := map[schema.ApprovalState]string{
		schema.ApprovalRejected: fmt.Sprintf("Rejected by %s. Nothing was executed.", a.DeciderName),
		schema.ApprovalExpired:  "Nobody decided in time. Nothing was executed.",
		schema.ApprovalAborted:  "Aborted by the user. Nothing was executed.",
		schema.ApprovalModified: fmt.Sprintf("%s changed the arguments. Nothing was executed yet.", a.DeciderName),
	}[a.State]
	if a.State == schema.ApprovalAborted && a.Reason != "" {
		why = fmt.Sprintf("Aborted: %s. Nothing was executed.", a.Reason)
	}
	short := why // for each device; what follows stands once
	switch {
	case a.State == schema.ApprovalRejected && a.Reason != "":
		why += fmt.Sprintf(" Reason: %q. Propose another way, or ask.", a.Reason)
	case a.State == schema.ApprovalRejected:
		why += " Propose another way, or ask."
	case a.State == schema.ApprovalModified:
		why += " Call the tool again with exactly these arguments: " + a.ModifiedArgs + "\nWhat was changed:\n" + schema.CutText(a.Summary, maxSummary)
	}
	var items []schema.ToolItem
	if a.Preview != nil {
		for _, d := range a.Preview.Devices {
			id := d.ID
			if id == "" {
				id = d.Name
			}
			items = append(items, schema.ToolItem{ID: id, Name: d.Name, Status: schema.ItemFailed, Outcome: string(a.State), Error: short})
		}
	}
	r := schema.NewToolResponse(a.ToolName, items, 0, time.Now())
	r.Success, r.Error, r.Status = false, why, string(a.State)
	return r
}
