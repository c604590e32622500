package activities

import (
	"context"
	"time"

	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// ChangeLab makes the changes of one call to the lab, one after the other, each at most once: its journal's row is claimed before the request.
// It is never retried. What goes wrong is the call's result; an error means that nothing more was claimed.
func (t *Tools) ChangeLab(ctx context.Context, in schema.ChangeLabInput) (schema.RunToolOutput, error) {
	concerns(ctx, in.Call)
	message, err := t.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	if over, err := t.over(ctx, in.RunTool()); over || err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	run, release, err := watched(ctx, t.Bus, in.TurnID, finish)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	defer release()
	tool, args, err := t.resolve(message, in.Call, in.Mode)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	start := schema.Event{Type: schema.EventToolStart, ToolName: in.Call.Name, ToolCallID: in.Call.ID}
	if err := t.Bus.Publish(run, in.TurnRef, start, "start/"+in.Call.ID); err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	began := time.Now()
	plan, err := t.plan(run, in, tool.(tools.LabChanger), args)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	access, err := t.access(run, in.TurnRef)
	if err != nil {
		return schema.RunToolOutput{}, fault(err)
	}
	c := labChange{tools: t, in: in, lab: access, end: ctx}
	items := make([]schema.ToolItem, len(plan))
	for i, change := range plan {
		items[i] = c.apply(run, change)
	}
	tools.AwaitAll(run, t.env(run, in.RunTool()), plan, items)
	out := schema.RunToolOutput{Aborted: aborted(run)}
	if superseded(run) { // nobody stopped it: the journal says what was done, to whoever settles it
		return out, fault(handedOn(run))
	}
	response := respond(in.Call.Name, items, nil, out.Aborted, time.Since(began))
	out.Successful, out.Failed = response.Successful, response.Failed
	end, cancel := settle(ctx)
	defer cancel()
	out.Bytes, err = t.keep(end, in.RunTool(), response)
	return out, fault(err)
}

// plan is what the call does. What a human has confirmed is what was shown; anything else is looked for in the lab as it is now, since
// an earlier call of the message may have made it.
func (t *Tools) plan(ctx context.Context, in schema.ChangeLabInput, changer tools.LabChanger, args []byte) ([]tools.LabChange, error) {
	lab, err := readLab(ctx, t.credentials(), t.Lab, in.TurnRef)
	if err == nil {
		err = tools.Opened(lab)
	}
	if err == nil && in.Confirmed {
		lab, err = t.shownLab(ctx, in.TurnRef)
	}
	if err != nil {
		return nil, err
	}
	plan, err := changer.Plan(args, lab)
	if err != nil {
		return nil, err
	}
	if len(plan) != len(in.Items) {
		return nil, schema.Errorf(schema.CodeInternal, "The call has %d changes where %d were judged.", len(plan), len(in.Items))
	}
	for i := range plan {
		plan[i].Item = in.Items[i]
	}
	return plan, nil
}

// labChange makes the changes of a call.
type labChange struct {
	tools *Tools
	in    schema.ChangeLabInput
	lab   tools.Access
	end   context.Context // outlives the run: what happened is stored in any case
}

// apply makes one change and settles its journal. An abort leaves a request that was begun some time to come to its end, since it can't be
// known otherwise what it did. What was claimed before, by an attempt whose end nobody heard of, is not done again.
func (c *labChange) apply(run context.Context, change tools.LabChange) schema.ToolItem {
	item := schema.ToolItem{ID: change.ID, Name: change.Item, Status: schema.ItemFailed}
	if change.ID == "" {
		item.ID = change.Item
	}
	switch {
	case run.Err() != nil: // by the user, or else the item is never seen
		item.Outcome, item.Error = schema.OutcomeAborted, "Stopped by the user. Nothing was done."
		return item
	case change.Problem != nil:
		item.Error = tools.Told(change.Problem)
		return item
	}
	claim := store.Claim{Kind: store.KindLab, Device: change.Item, NodeID: change.ID, Lines: []string{change.What}}
	err := c.claim(claim)
	switch {
	case schema.CodeOf(err) == schema.CodeConflict:
		return c.earlier(change.Item)
	case err != nil:
		item.Error = tools.Told(err) + " Nothing was done."
		return item
	}
	c.show(change, schema.DeviceRunning, change.What)
	request, release := schema.Outlive(run, lastRequest)
	did, err := change.Do(request, c.lab)
	release()
	result := outcomeOf(change, did, err)
	end, cancel := settle(c.end)
	defer cancel()
	if err := c.tools.Store.EndRun(end, c.in.TurnRef, c.in.Call.ID, result); err != nil {
		c.tools.Log.ErrorContext(c.end, "lab change not settled by who made it", "turn", c.in.TurnID, "item", change.Item, "error", err)
	}
	c.tools.Log.InfoContext(run, "lab change ended", "call", c.in.Call.ID, "item", change.Item, "state", result.State, "error", err)
	state := schema.DeviceDone
	if result.State != store.RunDone {
		state = schema.DeviceFailed
	}
	c.show(change, state, result.Error)
	if err != nil {
		return labItem(result)
	}
	return did
}

// claim is not cut off by an abort either: a claim that was stored all the same would stay open.
func (c *labChange) claim(claim store.Claim) error {
	ctx, cancel := settle(c.end)
	defer cancel()
	return c.tools.Store.ClaimRun(ctx, c.in.TurnRef, c.in.Call.ID, claim)
}

func (c *labChange) show(change tools.LabChange, state schema.DeviceState, detail string) {
	p := schema.DeviceProgress{DeviceName: change.Item, State: state, Detail: detail, Total: 1}
	if state == schema.DeviceDone {
		p.Done = 1
	}
	c.tools.tellDevice(c.end, c.in.RunTool(), p)
}
