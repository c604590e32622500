package activities

import (
	"cmp"
	"context"
	"strings"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// SettleLab makes sure that a change of the lab whose activity was lost goes no further, and makes the call's result of what the journal
// says.
func (t *Tools) SettleLab(ctx context.Context, in schema.ChangeLabInput) error {
	runs := map[string]store.DeviceRun{}
	for _, item := range in.Items {
		r, err := t.Store.SettleRun(ctx, in.TurnRef, in.Call.ID, item, store.KindLab)
		if err != nil {
			return fault(err)
		}
		if r.State == store.RunNothing && in.Failure != nil && !in.Aborted {
			r.Error = in.Failure.Message
		}
		runs[item] = r
	}
	response := pushResult(in.Call.Name, in.Items, runs, in.Aborted)
	_, err := t.keep(ctx, in.RunTool(), response)
	return fault(err)
}

// outcomeOf is what the journal keeps of a change that was tried.
func outcomeOf(change tools.LabChange, did schema.ToolItem, err error) store.DeviceRun {
	r := store.DeviceRun{
		Kind: store.KindLab, Device: change.Item, NodeID: cmp.Or(did.ID, change.ID), State: store.RunFailed, Begun: 1, Output: did.Result, Error: did.Error,
	}
	switch {
	case err != nil && gns3.MayHaveHappened(err), did.Outcome == schema.OutcomeUnknown:
		r.State = store.RunUnknown
	case err == nil && did.Status == schema.ItemSuccess:
		r.State, r.Acked = store.RunDone, 1
	}
	if err != nil {
		r.Output, r.Error = "", tools.Told(err)
	}
	return r
}

// earlier is the item of a change that was claimed before, by an attempt whose end nobody heard of. It is not made again.
func (c *labChange) earlier(item string) schema.ToolItem {
	end, cancel := settle(c.end)
	defer cancel()
	r, err := c.tools.Store.SettleRun(end, c.in.TurnRef, c.in.Call.ID, item, store.KindLab)
	if err != nil { // it is known all the same that it was claimed
		r = store.DeviceRun{Kind: store.KindLab, Device: item, State: store.RunUnknown, Error: tools.Told(err)}
	}
	return labItem(r)
}

// labItem words the journal of a change of the lab.
func labItem(r store.DeviceRun) schema.ToolItem {
	item := schema.ToolItem{ID: cmp.Or(r.NodeID, r.Device), Name: r.Device, Status: schema.ItemFailed, Result: r.Output, Error: r.Error}
	switch r.State {
	case store.RunDone:
		item.Status, item.Error = schema.ItemSuccess, ""
	case store.RunNothing:
		item.Outcome, item.Error = outcomeNothing, strings.TrimSpace(r.Error+" Nothing was done.")
	case store.RunUnknown:
		item.Outcome = schema.OutcomeUnknown
		item.Error = sentence(cmp.Or(r.Error, "The work was lost in the middle.")) +
			" Whether it took effect is unknown, and it is not done again. Look at the lab before anything is repeated."
	}
	return item
}
