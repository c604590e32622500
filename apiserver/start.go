package apiserver

import (
	"context"
	"errors"
	"time"

	"gns3copilot/schema"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// Bounds of a start. All together stay under 3 s.
const (
	startWait    = 2 * time.Second        // for Temporal to acknowledge
	describeWait = 700 * time.Millisecond // to find out how an unanswered start ended
	closeWait    = 2 * time.Second        // for the session's finished turn to close
)

// taskTimeout is how soon a workflow task of a killed worker is given to another.
const taskTimeout = 5 * time.Second

// startTurn starts the turn's workflow and gives its run. It fails with CodeTurnRunning while the session answers another message, and
// with CodeUnavailable when Temporal doesn't acknowledge in time.
func (s *Server) startTurn(ctx context.Context, in schema.TurnInput) (runID string, err error) {
	patience, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	for {
		runID, err := s.startOnce(ctx, in)
		var other *serviceerror.WorkflowExecutionAlreadyStarted
		if !errors.As(err, &other) {
			return runID, err
		}
		own, err := s.awaitClose(patience, in, other.RunId)
		if err != nil || own {
			return other.RunId, err
		}
	}
}

func (s *Server) startOnce(ctx context.Context, in schema.TurnInput) (string, error) {
	start, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	run, err := s.temporal.ExecuteWorkflow(start, client.StartWorkflowOptions{
		ID:                       schema.WorkflowID(in.SessionKey),
		TaskQueue:                schema.TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		// Without it the SDK answers with the running workflow, and this message would be lost.
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowTaskTimeout:                      taskTimeout,
		EnableEagerStart:                         true,
		Memo:                                     map[string]any{schema.MemoTurnID: in.TurnID, schema.MemoBody: in.BodySHA256},
		StaticSummary:                            "Turn of session " + in.SessionID,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(schema.SearchProjectID).ValueSet(in.ProjectID),
			temporal.NewSearchAttributeKeyKeyword(schema.SearchSessionID).ValueSet(in.SessionID),
			temporal.NewSearchAttributeKeyKeyword(schema.SearchUserID).ValueSet(in.UserID),
			temporal.NewSearchAttributeKeyKeyword(schema.SearchTurnState).ValueSet(string(schema.TurnRunning)),
		),
	}, schema.WorkflowChatTurn, in)
	if err == nil {
		s.metrics.TurnStarted(ctx)
		return run.GetRunID(), nil
	}
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &already) {
		return "", err
	}
	// The answer may be lost although the start wasn't.
	if found, ferr := s.describe(ctx, in.SessionKey, ""); ferr == nil && found.turnID == in.TurnID {
		s.metrics.TurnStarted(ctx)
		return found.runID, nil
	}
	return "", temporalUnavailable(err)
}

// awaitClose looks at the run that a start ran into. It tells whether that is the turn's own run; another one that has finished its books
// is waited for, since it closes within moments.
func (s *Server) awaitClose(ctx context.Context, in schema.TurnInput, runID string) (own bool, err error) {
	found, err := s.describe(ctx, in.SessionKey, runID)
	if err != nil {
		return false, temporalUnavailable(err)
	}
	switch {
	case found.turnID == in.TurnID && found.body != in.BodySHA256:
		return false, errOtherBody()
	case found.turnID == in.TurnID:
		return true, nil
	case found.closed:
		return false, nil
	}
	ref := in.TurnRef
	ref.TurnID = found.turnID
	turn, err := s.store.Turn(ctx, ref)
	if err != nil && schema.CodeOf(err) != schema.CodeNotFound {
		return false, err
	}
	if err == nil && turn.State.Over() {
		if err := s.temporal.GetWorkflow(ctx, schema.WorkflowID(in.SessionKey), runID).Get(ctx, nil); ctx.Err() == nil {
			_ = err // however it ended, it is closed
			return false, nil
		}
	}
	return false, schema.Errorf(schema.CodeTurnRunning, "The session is still answering another message.").
		WithHint("Wait for its end, abort it, or use another session.")
}

type foundRun struct {
	runID, turnID, body string
	closed              bool
}

func (s *Server) describe(ctx context.Context, sessionKey, runID string) (foundRun, error) {
	ctx, cancel := context.WithTimeout(ctx, describeWait)
	defer cancel()
	d, err := s.temporal.DescribeWorkflow(ctx, schema.WorkflowID(sessionKey), runID)
	if err != nil {
		return foundRun{}, err
	}
	info := d.RawResponse.GetWorkflowExecutionInfo()
	f := foundRun{
		runID:  info.GetExecution().GetRunId(),
		closed: info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
	for name, field := range map[string]*string{schema.MemoTurnID: &f.turnID, schema.MemoBody: &f.body} {
		if p, ok := info.GetMemo().GetFields()[name]; ok {
			if err := converter.GetDefaultDataConverter().FromPayload(p, field); err != nil {
				return foundRun{}, err
			}
		}
	}
	return f, nil
}

func temporalUnavailable(err error) error {
	return schema.Errorf(schema.CodeUnavailable, "The turn could not be started: Temporal doesn't answer.").
		WithHint("Try again in a moment; if it stays, look whether Temporal is running and has room on its disk.").WithCause(err)
}
