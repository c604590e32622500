package workflows

import (
	"slices"
	"time"

	"gns3copilot/schema"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Bounds of the activities. Local ones are short and tried again for as long as their bound; the end of a turn is worth a longer wait
// for a database or an event stream that is away.
const (
	localTry    = 15 * time.Second
	localBound  = time.Minute
	finishBound = 10 * time.Minute
	recordPause = time.Second // between the bounds of a decision that can't be recorded

	heartbeat    = 5 * time.Second
	modelBound   = 30 * time.Minute // a try; silence ends it much earlier
	titleBound   = 30 * time.Second
	toolBound    = 30 * time.Minute
	noWorkerWait = 10 * time.Minute
)

// local is the context of a local activity.
func (t *turn) local(summary string, bound time.Duration) workflow.Context {
	return workflow.WithLocalActivityOptions(t.books, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: bound,
		StartToCloseTimeout:    localTry,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Second,
		},
		Summary: summary,
	})
}

func (t *turn) begin() (schema.BeginTurnOutput, error) {
	var out schema.BeginTurnOutput
	err := workflow.ExecuteLocalActivity(t.local("Store the message", localBound), schema.ActivityBeginTurn, schema.BeginTurnInput{
		TurnInput: t.in, RunID: workflow.GetInfo(t.books).WorkflowExecution.RunID,
	}).Get(t.books, &out)
	return out, err
}

// makeTitle runs beside the first answer. Nobody waits for it: FinishTurn takes what is there by then.
func (t *turn) makeTitle() {
	ctx := workflow.WithActivityOptions(t.work, workflow.ActivityOptions{
		TaskQueue:           schema.TaskQueue,
		StartToCloseTimeout: titleBound,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             "Make a title",
	})
	workflow.ExecuteActivity(ctx, schema.ActivityMakeTitle, schema.TitleInput{TurnRef: t.in.TurnRef, Models: t.in.Models})
}

// runCalls puts the calls of a step before the policy. What only reads runs at once, side by side; what changes a device waits for a human's
// word and goes to its device at most once. In the end each call has its result.
func (t *turn) runCalls(calls []schema.Call) error {
	t.usage.ToolCalls += len(calls)
	t.say("Judging %d tool calls", len(calls))
	wait := time.Duration(t.in.ApprovalWait) * time.Second
	deadline := workflow.Now(t.books).Add(wait)
	var gate schema.GateOutput
	t.judging = true
	err := workflow.ExecuteLocalActivity(t.local("Judge the tool calls", localBound), schema.ActivityGate, schema.GateInput{
		TurnRef: t.in.TurnRef, Step: t.step, Mode: t.in.Mode, Calls: calls,
		ExpiresAt: deadline, ApprovalWait: t.in.ApprovalWait, Grants: t.grants,
	}).Get(t.books, &gate)
	t.judging = false
	if err != nil {
		return err
	}
	t.say("Running %d tool calls", len(calls))
	if !gate.ExpiresAt.IsZero() {
		deadline = gate.ExpiresAt
	}
	t.awaitDecisions(gate.Verdicts, deadline)
	wg, order := workflow.NewWaitGroup(t.books), queues{}
	for _, v := range gate.Verdicts {
		if !v.Run && !v.Approve {
			continue
		}
		if v.Granted {
			t.useGrant(schema.Grant(v.Name, v.ArgsSHA256))
		}
		turn, done := order.enter(t.books, v)
		wg.Add(1)
		workflow.Go(t.books, func(own workflow.Context) {
			defer wg.Done()
			defer done()
			t.runCall(own, v, turn)
		})
	}
	wg.Wait(t.books)
	if t.aborted {
		t.closeCalls(t.books, calls, schema.ClosingAborted, t.whyAborted())
	}
	return nil
}

// runCall runs a call as soon as it may.
func (t *turn) runCall(own workflow.Context, v schema.Verdict, turn func(workflow.Context)) {
	if v.Approve && !t.waiting.decided(own, v.ID) {
		return
	}
	turn(own)
	switch {
	case t.aborted: // the calls of an aborted step are closed together
	case v.ChangesLab:
		t.changeLab(own, v)
	case len(v.Devices) > 0:
		t.push(own, v)
	default:
		t.runTool(own, v)
	}
}

func (t *turn) useGrant(grant string) {
	if i := slices.Index(t.grants, grant); i >= 0 {
		t.grants = slices.Delete(t.grants, i, i+1)
	}
}

// runTool runs one call. A failure becomes the call's result, so that the model hears of it and the turn goes on. own is the context of
// the coroutine that it blocks.
func (t *turn) runTool(own workflow.Context, v schema.Verdict) {
	ctx := workflow.WithActivityOptions(t.work, workflow.ActivityOptions{
		TaskQueue:              v.Queue,
		StartToCloseTimeout:    toolBound,
		ScheduleToStartTimeout: noWorkerWait,
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: schema.MaxRuns, InitialInterval: time.Second, BackoffCoefficient: 2},
		Summary:                v.Summary,
	})
	for {
		err := workflow.ExecuteActivity(ctx, schema.ActivityRunTool, schema.RunToolInput{
			TurnRef: t.in.TurnRef, Step: t.step, Mode: t.in.Mode, Call: v.Call,
		}).Get(own, nil)
		if err == nil {
			return
		}
		if t.aborted {
			return // the calls of an aborted step are closed together
		}
		if codeOf(err) == schema.CodeCredentialMissing {
			err = t.awaitCredential(own)
			if err == nil {
				continue
			}
		}
		t.closeCalls(own, []schema.Call{v.Call}, schema.ClosingFailed, failureOf(err))
		return
	}
}

// closeCalls gives the calls that have no result one that says why. Its failure is left to FinishTurn, which looks again.
func (t *turn) closeCalls(own workflow.Context, calls []schema.Call, why schema.Closing, failure *schema.Failure) {
	if len(calls) == 0 {
		return
	}
	err := workflow.ExecuteLocalActivity(t.local("Close the tool calls", localBound), schema.ActivityCloseCalls, schema.CloseCallsInput{
		TurnRef: t.in.TurnRef, Step: t.step, Calls: calls, Closing: why, Failure: failure,
	}).Get(own, nil)
	if err != nil {
		workflow.GetLogger(t.books).Error("tool calls not closed", "error", err)
	}
}

// awaitCredential waits until the owner's token is there. It returns an error when it doesn't come in time; an abort ends the wait
// without one.
func (t *turn) awaitCredential(own workflow.Context) error {
	for {
		seen := t.credentials
		var check schema.CheckCredentialOutput
		err := workflow.ExecuteLocalActivity(t.local("Look for the owner's login", localBound), schema.ActivityCheckCredential,
			schema.CheckCredentialInput{TurnRef: t.in.TurnRef, Wait: seen}).Get(own, &check)
		if err != nil {
			return err
		}
		if check.Present {
			return t.become(schema.TurnRunning)
		}
		t.say("Waiting for the owner to open the session again: the GNS3 login is gone or expired")
		if err := t.become(schema.TurnWaitingCredential); err != nil {
			return err
		}
		came, err := workflow.AwaitWithTimeout(own, t.credentialWait(), func() bool { return t.aborted || t.credentials > seen })
		if err != nil || t.aborted {
			return err
		}
		if !came {
			return temporal.NewNonRetryableApplicationError("The turn waited in vain for its owner's GNS3 login.",
				string(schema.CodeCredentialMissing), nil)
		}
	}
}

// become changes the state that operators search by.
func (t *turn) become(s schema.TurnState) error {
	if t.state == s {
		return nil
	}
	t.state = s
	return t.upsertState()
}
