package workflows

import (
	"context"
	"errors"
	"testing"
	"time"

	"gns3copilot/schema"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
)

// TestDecisionDuringGate: the worker died after Gate had stored and published the approvals but before its workflow task was completed; the
// human decides meanwhile; the next worker runs Gate and RecordDecision side by side, and RecordDecision ends first.
func TestDecisionDuringGate(t *testing.T) {
	env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
	env.RegisterWorkflow(ChatTurn)
	reg := func(name string, f any) { env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name}) }
	call := schema.Call{ID: "c1", Name: "execute_multiple_device_config_commands", ArgsSHA256: "x"}
	recorded := make(chan struct{})
	reg(schema.ActivityBeginTurn, func(context.Context, schema.BeginTurnInput) (schema.BeginTurnOutput, error) {
		return schema.BeginTurnOutput{}, nil
	})
	reg(schema.ActivityCallModel, func(_ context.Context, in schema.CallModelInput) (schema.CallModelOutput, error) {
		if in.Step > 1 {
			return schema.CallModelOutput{}, nil
		}
		return schema.CallModelOutput{Calls: []schema.Call{call}}, nil
	})
	reg(schema.ActivityGate, func(context.Context, schema.GateInput) (schema.GateOutput, error) {
		env.SignalWorkflow(schema.SignalDecide, schema.Decision{ID: "d1", DecidedAt: time.Now()})
		select {
		case <-recorded:
		case <-time.After(2 * time.Second): // a workflow that waits for the gate first
		}
		return schema.GateOutput{Verdicts: []schema.Verdict{{Call: call, Approve: true, Devices: []string{"R1"}, Queue: "q"}}}, nil
	})
	reg(schema.ActivityRecordDecision, func(context.Context, schema.RecordDecisionInput) (schema.RecordDecisionOutput, error) {
		close(recorded)
		return schema.RecordDecisionOutput{Calls: []schema.DecidedCall{{ID: "c1", State: schema.ApprovalConfirmed, Applied: true}}}, nil
	})
	pushed := 0
	reg(schema.ActivityPushDevice, func(context.Context, schema.PushInput) (schema.PushOutput, error) {
		pushed++
		return schema.PushOutput{}, nil
	})
	reg(schema.ActivityEndApprovals, func(context.Context, schema.ExpireInput) (schema.ExpireOutput, error) {
		return schema.ExpireOutput{Ended: []string{}}, nil // the row is confirmed: nothing to end
	})
	reg(schema.ActivityCollectPushes, func(context.Context, schema.CollectInput) error { return nil })
	reg(schema.ActivityFinishTurn, func(context.Context, schema.FinishTurnInput) error { return nil })
	env.ExecuteWorkflow(ChatTurn, schema.TurnInput{Steps: 20, StopBelow: 4, ApprovalWait: 300})
	if !env.IsWorkflowCompleted() || env.GetWorkflowError() != nil || pushed != 1 {
		t.Fatalf("completed %v, error %v, pushed %d", env.IsWorkflowCompleted(), env.GetWorkflowError(), pushed)
	}
}

// TestDecisionStoredButNotRecorded: the decision is in the database, but its local activity fails until its bound (NATS is away for a minute,
// so the event can't be published). At the deadline there is nothing to end, since the row is confirmed.
func TestDecisionStoredButNotRecorded(t *testing.T) {
	env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
	env.RegisterWorkflow(ChatTurn)
	reg := func(name string, f any) { env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name}) }
	call := schema.Call{ID: "c1", Name: "execute_multiple_device_config_commands", ArgsSHA256: "x"}
	reg(schema.ActivityBeginTurn, func(context.Context, schema.BeginTurnInput) (schema.BeginTurnOutput, error) {
		return schema.BeginTurnOutput{}, nil
	})
	reg(schema.ActivityCallModel, func(_ context.Context, in schema.CallModelInput) (schema.CallModelOutput, error) {
		if in.Step > 1 {
			return schema.CallModelOutput{}, nil
		}
		return schema.CallModelOutput{Calls: []schema.Call{call}}, nil
	})
	reg(schema.ActivityGate, func(context.Context, schema.GateInput) (schema.GateOutput, error) {
		return schema.GateOutput{Verdicts: []schema.Verdict{{Call: call, Approve: true, Devices: []string{"R1"}, Queue: "q"}}}, nil
	})
	reg(schema.ActivityRecordDecision, func(context.Context, schema.RecordDecisionInput) (schema.RecordDecisionOutput, error) {
		return schema.RecordDecisionOutput{}, errors.New("the event stream is away")
	})
	pushed := 0
	reg(schema.ActivityPushDevice, func(context.Context, schema.PushInput) (schema.PushOutput, error) {
		pushed++
		return schema.PushOutput{}, nil
	})
	reg(schema.ActivityEndApprovals, func(context.Context, schema.ExpireInput) (schema.ExpireOutput, error) {
		return schema.ExpireOutput{Ended: []string{}, Decided: []schema.DecidedCall{{ID: "c1", State: schema.ApprovalConfirmed}}}, nil
	})
	reg(schema.ActivityCollectPushes, func(context.Context, schema.CollectInput) error { return nil })
	reg(schema.ActivityFinishTurn, func(context.Context, schema.FinishTurnInput) error { return nil })
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(schema.SignalDecide, schema.Decision{ID: "d1"}) }, time.Second)
	env.ExecuteWorkflow(ChatTurn, schema.TurnInput{Steps: 20, StopBelow: 4, ApprovalWait: 300})
	if !env.IsWorkflowCompleted() || env.GetWorkflowError() != nil || pushed != 1 {
		t.Fatalf("completed %v, error %v, pushed %d", env.IsWorkflowCompleted(), env.GetWorkflowError(), pushed)
	}
}
