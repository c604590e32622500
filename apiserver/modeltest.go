package apiserver

import (
	"context"
	"errors"
	"time"

	"gns3copilot/schema"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// testWait bounds a try of a model, with the wait for a worker.
const testWait = 75 * time.Second

// testModel has a worker try a configuration. Two who ask at the same time get the answer of one try.
func testModel[I ownedModel](s *Server) handler[I, body[schema.ModelTest]] {
	return func(ctx context.Context, r request, in *I) (*body[schema.ModelTest], error) {
		owner, id, err := owned(ctx, s, r, *in)
		if err != nil {
			return nil, err
		}
		if _, err := s.store.OwnedModels(owner).Get(ctx, id); err != nil {
			return nil, err
		}
		if err := s.checkDay(ctx, r.ID, s.limits.Turn); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, testWait)
		defer cancel()
		run, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID:                       schema.ModelTestID(id),
			TaskQueue:                schema.TaskQueue,
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			WorkflowExecutionTimeout: testWait,
			WorkflowTaskTimeout:      taskTimeout,
		}, schema.WorkflowTestModel, schema.ModelTestInput{ConfigID: id, UserID: r.ID})
		if err != nil {
			return nil, temporalUnavailable(err)
		}
		var found schema.ModelTest
		if err := run.Get(ctx, &found); err != nil {
			return nil, untried(err)
		}
		return &body[schema.ModelTest]{Body: found}, nil
	}
}

// untried is why nothing was found out: nobody could try.
func untried(err error) error {
	if _, late := errors.AsType[*temporal.TimeoutError](err); late || errors.Is(err, context.DeadlineExceeded) {
		return schema.Errorf(schema.CodeUnavailable, "No worker has tried the model in time.").WithHint("Look whether workers are running.").WithCause(err)
	}
	return schema.Errorf(schema.CodeUnavailable, "The model could not be tried.").WithHint("Try again; if it stays, look at the worker's log.").WithCause(err)
}
