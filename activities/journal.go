package activities

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// SettlePush makes sure that a push whose activity was lost goes no further.
func (t *Tools) SettlePush(ctx context.Context, in schema.PushInput) error {
	_, err := t.Store.SettleRun(ctx, in.TurnRef, in.Call.ID, in.Device, store.KindDevice)
	return fault(err)
}

// over tells whether a call has its result already, and tells readers of it: a turn that was reset comes again to what it has done. The journal
// alone doesn't keep that from being done twice, since a node that it knows by one name may have another by now.
func (t *Tools) over(ctx context.Context, in schema.RunToolInput) (bool, error) {
	results, err := t.Store.Results(ctx, in.TurnRef, in.Step)
	if err != nil {
		return false, err
	}
	m, over := results[in.Call.ID]
	if !over {
		return false, nil
	}
	return true, t.Bus.Publish(ctx, in.TurnRef, toolEnd(m), "end/"+in.Call.ID)
}

// CollectPushes makes the call's result of what its devices' journals say.
func (t *Tools) CollectPushes(ctx context.Context, in schema.CollectInput) error {
	runs, err := t.Store.Runs(ctx, in.TurnRef, in.Call.ID)
	if err != nil {
		return fault(err)
	}
	response := pushResult(in.Call.Name, in.Devices, runs, in.Aborted)
	_, err = t.keep(ctx, schema.RunToolInput{TurnRef: in.TurnRef, Step: in.Step, Call: in.Call}, response)
	return fault(err)
}

// pushResult is a call's result as its devices' journals have it.
func pushResult(tool string, devices []string, runs map[string]store.DeviceRun, aborted bool) schema.ToolResponse {
	items := make([]schema.ToolItem, len(devices))
	began, ended := time.Time{}, time.Time{}
	for i, device := range devices {
		r, ok := runs[device]
		if !ok {
			r = store.DeviceRun{Device: device, State: store.RunNothing}
		}
		items[i] = journalItem(r)
		if ok && (began.IsZero() || r.StartedAt.Before(began)) {
			began = r.StartedAt
		}
		if r.FinishedAt != nil && r.FinishedAt.After(ended) {
			ended = *r.FinishedAt
		}
	}
	response := schema.NewToolResponse(tool, items, ended.Sub(began), time.Now())
	if aborted && response.Failed > 0 {
		response.Status = schema.OutcomeAborted
	}
	return response
}

// begun is the result of a call of which something was sent in an earlier run of the turn, such as before an operator's reset. What is
// still under way is given up first. ok is false when nothing was sent.
func begun(ctx context.Context, db *store.Store, in schema.CloseCallsInput, call schema.Call) (_ schema.ToolResponse, ok bool, err error) {
	runs, err := db.Runs(ctx, in.TurnRef, call.ID)
	if err != nil || len(runs) == 0 {
		return schema.ToolResponse{}, false, err
	}
	for device, r := range runs {
		if runs[device], err = db.SettleRun(ctx, in.TurnRef, call.ID, device, r.Kind); err != nil {
			return schema.ToolResponse{}, false, err
		}
	}
	approvals, err := db.Approvals(ctx, in.TurnRef, in.Step)
	if err != nil {
		return schema.ToolResponse{}, false, err
	}
	devices := slices.Sorted(maps.Keys(runs))
	for _, a := range approvals {
		if a.ToolCallID == call.ID && a.Preview != nil {
			devices = nil
			for _, d := range a.Preview.Devices {
				devices = append(devices, d.Name)
			}
		}
	}
	return pushResult(call.Name, devices, runs, in.Closing == schema.ClosingAborted), true, nil
}

// outcomeNothing is of what was never begun.
const outcomeNothing = "nothing"

// journalItem words a journal.
func journalItem(r store.DeviceRun) schema.ToolItem {
	if r.Kind == store.KindLab {
		return labItem(r)
	}

	item := schema.ToolItem{ID: r.NodeID, Name: r.Device, Status: schema.ItemFailed, Result: r.Output, Error: sentence(r.Error)}
	if item.ID == "" {
		item.ID = r.Device
	}
	acked := fmt.Sprintf("%d of %d lines were acknowledged", r.Acked, len(r.Lines))
	switch r.State {
	case store.RunDone:
		item.Status, item.Error = schema.ItemSuccess, ""
	case store.RunNothing:
		item.Outcome, item.Error = outcomeNothing, "Nothing was sent to this device."
	case store.RunUnknown:
		item.Outcome = schema.OutcomeUnknown
		item.Error = fmt.Sprintf("The connection to the work on this device was lost: %s, the rest is unknown and is not sent again. Look at the device.", acked)
	default:
		if r.Begun == 0 {
			item.Error += " Nothing was sent."
		} else {
			item.Error += " " + acked + "; nothing was sent after the line that failed."
		}
		if r.Acked > 0 {
			item.Outcome = schema.OutcomePartial
		}
	}
	if r.Diff != "" {
		item.Result = strings.TrimRight(item.Result, "\n") + "\n\nWhat changed in the running configuration:\n" + r.Diff
	}
	return item
}

// sentence ends a message that another one follows.
func sentence(message string) string {
	if message == "" || strings.HasSuffix(message, ".") {
		return message
	}
	return message + "."
}
