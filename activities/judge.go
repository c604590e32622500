package activities

import (
	"encoding/json"
	"fmt"
	"slices"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/policy"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// judge goes through the calls of one message.
type judge struct {
	tools    *Tools
	policy   *policy.Policy // one for all calls of the message
	in       schema.GateInput
	message  store.Message
	lab      gns3.Topology
	grants   []string
	proposed []store.Approval
	granted  []store.Approval // allowed by an earlier modification
}

// call says whether and where a call may run, and notes the ones that wait; an error is the reason why it may not.
func (j *judge) call(ordinal int, call schema.Call) (schema.Verdict, error) {
	tool, args, err := j.tools.resolve(j.message, call, j.in.Mode)
	if err != nil {
		return schema.Verdict{Call: call}, err
	}
	meta := tool.Metadata()
	v := schema.Verdict{Call: call, Queue: schema.TaskQueue, Summary: meta.Name}
	if meta.Category == tools.CategoryDevice {
		v.Queue = schema.TaskQueueDevices
	}
	changer, ok := tool.(tools.Changer)
	if !ok {
		v.Run = true
		return v, nil
	}
	list, err := changer.Changes(args)
	if err != nil {
		return schema.Verdict{Call: call}, err
	}
	list = tools.ByDevice(list, j.lab)
	ruling, preview := tools.Judge(j.policy, j.lab, list)
	always := j.policy.NeedsApproval(meta.Name)
	switch {
	case ruling.Action == policy.Refuse:
		return schema.Verdict{Call: call}, ruling.Error()
	case ruling.Action == policy.Allow && !always:
		v.Run, v.Summary = true, tools.Describe("Read", list)
		return v, nil
	}
	v.Summary = tools.Describe("Run on", list)
	if list[0].Config {
		v.Summary = tools.Describe("Configure", list)
	}
	for _, c := range list {
		v.Devices = append(v.Devices, c.Device)
	}
	if i := slices.Index(j.grants, schema.Grant(call.Name, call.ArgsSHA256)); i >= 0 && ruling.Level != policy.High {
		j.grants = slices.Delete(j.grants, i, i+1)
		v.Run, v.Granted = true, true
		j.granted = append(j.granted, j.approval(ordinal, call, args, ruling, preview, v.Summary))
		return v, nil
	}
	v.Approve = true
	j.proposed = append(j.proposed, j.approval(ordinal, call, args, ruling, preview, v.Summary))
	return v, nil
}

// approval is the row of a call that waits.
func (j *judge) approval(ordinal int, call schema.Call, args json.RawMessage, ruling policy.Verdict, preview *schema.Preview, what string) store.Approval {
	danger, required := schema.DangerMedium, 1
	if ruling.Level == policy.High {
		danger, required = schema.DangerHigh, 2
	}
	var reasons []string
	for _, r := range ruling.Reasons {
		text := r.Why
		if r.Pattern != "" {
			text += fmt.Sprintf(" [%s]", r.Pattern)
		}
		reasons = append(reasons, text)
	}
	ref := j.in.TurnRef
	return store.Approval{
		HITLSessionID: hitlSession(ref.TurnID, j.in.Step), TurnID: ref.TurnID, ToolCallID: call.ID, Step: j.in.Step, Ordinal: ordinal,
		SessionKey: ref.SessionKey, SessionID: ref.SessionID, UserID: ref.UserID, ProjectID: ref.ProjectID,
		ToolName: call.Name, Arguments: string(args), ArgsSHA256: call.ArgsSHA256, Danger: danger, Required: required,
		Description: what, Reasons: reasons, Preview: preview, ExpiresAt: j.in.ExpiresAt,
	}
}

// hitlSession names the calls of one assistant message that wait together.
func hitlSession(turnID string, step int) string {
	return "hitl_" + uuid.NewSHA1(messageNamespace, fmt.Appendf(nil, "%s/%d/hitl", turnID, step)).String()
}
