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
	labRuns  bool             // a call was let through that changes the lab
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
	if changer, ok := tool.(tools.LabChanger); ok {
		return j.labCall(ordinal, v, changer, args)
	}
	changer, ok := tool.(tools.Changer)
	if !ok {
		v.Run, v.After = true, j.labRuns
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
		v.Run, v.After, v.Summary = true, j.labRuns, tools.Describe("Read", list)
		return v, nil
	}
	v.Summary = tools.Describe("Run on", list)
	if list[0].Config {
		v.Summary = tools.Describe("Configure", list)
	}
	for _, c := range list {
		v.Devices = append(v.Devices, c.Device)
	}
	return j.offer(v, j.approval(ordinal, call, args, ruling, preview, v.Summary)), nil
}

// offer lets a call wait for a human's word, unless a human has written it.
func (j *judge) offer(v schema.Verdict, row store.Approval) schema.Verdict {
	i := slices.Index(j.grants, schema.Grant(v.Name, v.ArgsSHA256))
	if i < 0 || row.Danger == schema.DangerHigh {
		v.Approve = true
		j.proposed = append(j.proposed, row)
		return v
	}
	j.grants = slices.Delete(j.grants, i, i+1)
	v.Run, v.Granted = true, true
	j.granted = append(j.granted, row)
	return v
}

// labCall is call for a change of the lab itself.
func (j *judge) labCall(ordinal int, v schema.Verdict, changer tools.LabChanger, args json.RawMessage) (schema.Verdict, error) {
	if err := tools.OwnProject(args, j.in.ProjectID); err != nil {
		return schema.Verdict{Call: v.Call}, err
	}
	plan, err := changer.Plan(args, j.lab)
	if err != nil {
		return schema.Verdict{Call: v.Call}, err
	}
	v.ChangesLab, v.Devices, v.Order = true, tools.Items(plan), []string{schema.OrderLab}
	v.Summary = tools.DescribeLab(v.Name, plan)
	ruling := j.policy.Tool(v.Name)
	if ruling.Action == policy.Allow { // what it names may be made by a call before it, so it is looked for when it runs
		v.Run, j.labRuns = true, true
		return v, nil
	}
	if err := tools.Hopeless(plan); err != nil {
		return schema.Verdict{Call: v.Call}, err
	}
	return j.offer(v, j.approval(ordinal, v.Call, args, ruling, tools.PreviewLab(plan), v.Summary)), nil
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
