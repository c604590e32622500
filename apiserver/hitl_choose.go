package apiserver

import (
	"slices"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// choose finds the calls that the decision is about. Any doubt refuses it whole.
func (d decision) choose(rows []store.Approval, now time.Time) ([]store.Approval, error) {
	if !d.all && len(d.ids) == 0 {
		if d.action == schema.DecideReject {
			return nil, badDecision("No pending tools to reject")
		}
		return nil, badDecision("Must specify either confirm_all=true or tool_call_ids")
	}
	var chosen []store.Approval
	for _, a := range rows {
		pending := a.State == schema.ApprovalPending && now.Before(a.ExpiresAt)
		named := slices.Contains(d.ids, a.ToolCallID)
		if !named && !(d.all && pending) {
			continue
		}
		want, bound := d.expected[a.ToolCallID]
		switch {
		case a.State != schema.ApprovalPending:
			return nil, over("The call "+a.ToolCallID, a.State)
		case !pending:
			return nil, over("The call "+a.ToolCallID, schema.ApprovalExpired)
		case bound && want != a.ArgsSHA256:
			return nil, schema.Errorf(schema.CodeConflict, "The arguments of %s are not the ones that were looked at.", a.ToolCallID).
				WithHint("Look at what waits now, and decide again.")
		case d.second && a.Required > 1 && a.Confirmations == 0:
			return nil, schema.Errorf(schema.CodeConflict, "The call %s has no first confirmation yet.", a.ToolCallID).
				WithHint("Confirm it without second_confirmation, look again, and confirm it a second time.")
		case d.action == schema.DecideConfirm && a.Confirmations > 0 && !(d.second && named):
			return nil, schema.Errorf(schema.CodeConflict, "The call %s is of high danger and waits for its second confirmation.", a.ToolCallID).
				WithHint("Confirm it by its tool_call_id with second_confirmation: true.")
		}
		chosen = append(chosen, a)
	}
	for _, id := range d.ids {
		if !slices.ContainsFunc(chosen, func(a store.Approval) bool { return a.ToolCallID == id }) {
			if d.action == schema.DecideReject {
				return nil, badDecision("No pending tools to reject")
			}
			return nil, badDecision("No tools matched the confirmation criteria")
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, d.looked(chosen)
	case len(rows) > 0:
		return nil, schema.Errorf(schema.CodeConflict, "Everything that was pending is decided.")
	case d.action == schema.DecideReject:
		return nil, badDecision("No pending tools to reject")
	default:
		return nil, badDecision("No pending tools to confirm")
	}
}

// looked fails when the decision is bound to calls that were looked at, and those are not the ones that it decides.
func (d decision) looked(chosen []store.Approval) error {
	seen := 0
	for _, a := range chosen {
		if _, ok := d.expected[a.ToolCallID]; ok {
			seen++
		}
	}
	if seen < len(d.expected) || (d.all && seen > 0 && seen < len(chosen)) {
		return schema.Errorf(schema.CodeConflict, "What waits is not what was looked at: expected_sha256 names other calls than those that this decides.").
			WithHint("Look at what waits now, and decide again.")
	}
	return nil
}

// badDecision is a 400: the request can't mean anything.
func badDecision(message string) error { return schema.Errorf(schema.CodeMalformed, "%s", message) }
