package main

import (
	"context"
	"errors"
	"fmt"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	temporal "go.temporal.io/sdk/client"
)

// operate does to the turn's workflow what an operator can do in Temporal's UI. done is false when Temporal was away, or the workflow hadn't
// come that far or was over.
func (s *site) operate(ctx context.Context, t *turn, k kind) (done bool, err error) {
	s.temporalMu.Lock()
	defer s.temporalMu.Unlock()
	sessions, err := s.client.Sessions(ctx, s.project)
	if err != nil || len(sessions) == 0 {
		return false, nil
	}
	c, err := temporal.DialContext(ctx, temporal.Options{HostPort: s.temporal.Address(), Logger: silent{}})
	if err != nil {
		return false, nil
	}
	defer c.Close()
	id := schema.WorkflowID(store.SessionKey(sessions[0].UserID, s.project, session))
	described, err := c.DescribeWorkflow(ctx, id, "")
	if err != nil || described.RawResponse.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return false, nil
	}
	run := described.RawResponse.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	if k == terminate {
		err = c.TerminateWorkflow(ctx, id, run, "chaos")
	} else {
		err = reset(ctx, c, id, run, k)
	}
	s.tell("turn %d: %s: %v", t.number+1, k, err)
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) || errors.Is(err, errNotThatFar) {
		return false, nil
	}
	return err == nil, err
}

var errNotThatFar = errors.New("the workflow has not come to that point")

// reset resets a run to the last workflow task before what the kind names: the first push, the decision, or anything.
func reset(ctx context.Context, c temporal.Client, id, run string, k kind) error {
	task, err := findTask(ctx, c, id, run, k)
	if err != nil {
		return err
	}
	_, err = c.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: run},
		Reason: "chaos", WorkflowTaskFinishEventId: task, RequestId: uuid.NewString(),
	})
	return err
}

func findTask(ctx context.Context, c temporal.Client, id, run string, k kind) (task int64, err error) {
	events := c.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		ev, err := events.Next()
		if err != nil {
			return 0, fmt.Errorf("read the workflow's history: %w", err)
		}
		if ev.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			task = ev.GetEventId()
		}
		found := map[kind]bool{
			resetPush:  ev.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == schema.ActivityPushDevice,
			resetWord:  ev.GetWorkflowExecutionSignaledEventAttributes().GetSignalName() == schema.SignalDecide,
			resetBegin: true,
		}
		if task > 0 && found[k] {
			return task, nil
		}
	}
	return 0, errNotThatFar
}

// silent is a logger for a client whose troubles are part of the plan.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
