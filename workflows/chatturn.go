// Package workflows is the control flow of a turn: what comes after what, what is waited for and how long. It sees ids, counts and
// hashes alone; all that has a side effect is an activity, called by name.
package workflows

import (
	"fmt"
	"time"

	"gns3copilot/schema"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// ChatTurn answers one message of a user: it calls the model, runs the tools the model asks for, and so on until there is an answer
// without a tool call or the budget is used up. Whatever happens, the turn's books are closed and its readers told.
func ChatTurn(ctx workflow.Context, in schema.TurnInput) (schema.TurnOutput, error) {
	t := newTurn(ctx, in)
	if err := workflow.SetQueryHandler(ctx, schema.QueryTurnState, t.status); err != nil {
		return schema.TurnOutput{}, err
	}
	end := t.answer()
	if end.foreign {
		return schema.TurnOutput{State: schema.TurnFailed, StopReason: schema.StopError}, nil
	}
	return t.finish(end)
}

// turn is the state of a running turn.
type turn struct {
	in schema.TurnInput
	// books is for what must be done on every outcome; work is cancelled by an abort.
	books, work workflow.Context
	state       schema.TurnState
	doing       string
	step        int
	usage       schema.Usage
	day         schema.DaySum // the user's, as of the last model call
	aborted     bool
	abortReason schema.AbortReason // what the first abort said
	credentials int                // signals that a token was brought
	decisions   []schema.Decision  // that are not recorded yet
	judging     bool               // the policy is being asked: what decisions are about isn't known yet
	ending      bool               // nothing will wait any more
	waiting     *waiting           // the newest step's
	grants      []string           // hashes of arguments that a human has written, for one call each
	cuts        int                // answers in a row that the output limit has cut
	labChanged  bool               // since the topology was read
	model, trim int                // the place of the model that answers, and how much less of the conversation it is sent
}

// ending is why there is no further step.
type ending struct {
	reason  schema.StopReason
	failure *schema.Failure
	limit   *schema.LimitReached
	foreign bool // the turn's id belongs to another session's turn, whose books are not ours
}

func newTurn(ctx workflow.Context, in schema.TurnInput) *turn {
	t := &turn{in: in, state: schema.TurnRunning}
	t.books, _ = workflow.NewDisconnectedContext(ctx)
	work, cancelWork := workflow.WithCancel(t.books)
	t.work = work
	t.listen(ctx, cancelWork)
	workflow.Go(t.books, t.decide)
	return t
}

// listen only notes what comes from outside; the main line looks at it where it is safe to act. An operator's cancellation in
// Temporal's UI is an abort.
func (t *turn) listen(ctx workflow.Context, cancelWork workflow.CancelFunc) {
	abort := func(why schema.AbortRequest) {
		if !t.aborted {
			t.abortReason = why.Reason
		}
		t.aborted = true
		cancelWork()
	}
	workflow.Go(t.books, func(books workflow.Context) {
		var ignored struct{}
		cancelled := false
		s := workflow.NewSelector(books)
		s.AddReceive(workflow.GetSignalChannel(books, schema.SignalAbort), func(c workflow.ReceiveChannel, _ bool) {
			var why schema.AbortRequest
			c.Receive(books, &why)
			abort(why)
		})
		s.AddReceive(workflow.GetSignalChannel(books, schema.SignalCredential), func(c workflow.ReceiveChannel, _ bool) {
			c.Receive(books, &ignored)
			t.credentials++
		})
		s.AddReceive(workflow.GetSignalChannel(books, schema.SignalDecide), func(c workflow.ReceiveChannel, _ bool) {
			var d schema.Decision
			c.Receive(books, &d)
			t.decisions = append(t.decisions, d)
		})
		s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {
			cancelled = true
			abort(schema.AbortRequest{})
		})
		for !cancelled {
			s.Select(books)
		}
	})
}

func (t *turn) status() (schema.TurnStatus, error) {
	return schema.TurnStatus{TurnID: t.in.TurnID, State: t.state, Step: t.step, Doing: t.doing}, nil
}

// say tells operators what the turn is about to do.
func (t *turn) say(format string, args ...any) {
	t.doing = fmt.Sprintf(format, args...)
	details := fmt.Sprintf("**%s**\n\nStep %d of %d · %d model calls · %d tool calls · %d tokens",
		t.doing, t.step, t.in.Steps, t.usage.LLMCalls, t.usage.ToolCalls, t.usage.TotalTokens)
	if t.usage.CostMicroUSD > 0 {
		details += " · " + schema.Dollars(t.usage.CostMicroUSD)
	}
	workflow.SetCurrentDetails(t.books, details)
}

// answer runs step after step until the turn ends.
func (t *turn) answer() ending {
	t.say("Beginning the turn")
	begun, err := t.begin()
	if err != nil {
		end := failed(err)
		end.foreign = end.failure.Code == schema.CodeConflict
		return end
	}
	if begun.WantTitle {
		t.makeTitle()
	}
	for {
		if t.aborted {
			return ending{reason: schema.StopAborted}
		}
		if end, over := t.stopAtLimit(); over {
			return end
		}
		t.step++
		message, err := t.callModel()
		if message.Day != nil {
			t.day = *message.Day
		}
		switch {
		case t.aborted || message.Aborted:
			t.closeCalls(t.books, message.Calls, schema.ClosingAborted, t.whyAborted())
			return ending{reason: schema.StopAborted}
		case err != nil:
			return failed(err)
		case len(message.Calls) == 0:
			return ending{reason: schema.StopComplete}
		}
		if t.cutAgain(message) {
			failure := truncated()
			t.closeCalls(t.books, message.Calls, schema.ClosingFailed, failure)
			return ending{reason: schema.StopError, failure: failure}
		}
		if end, over := t.stopBefore(message.Calls); over {
			return end
		}
		if err := t.runCalls(message.Calls); err != nil {
			t.closeCalls(t.books, message.Calls, schema.ClosingFailed, failureOf(err))
			return failed(err)
		}
	}
}

// mostCuts is how many answers in a row may be cut by the output limit in the middle of a call.
const mostCuts = 3

// cutAgain tells whether the model calls and calls, and the output limit cuts each call.
func (t *turn) cutAgain(message schema.CallModelOutput) bool {
	t.cuts++
	if !message.Truncated {
		t.cuts = 0
	}
	return t.cuts == mostCuts
}

func truncated() *schema.Failure {
	return &schema.Failure{
		Code: schema.CodeModelTruncated, Message: fmt.Sprintf("The output limit has cut the model's tool call %d times in a row.", mostCuts),
		Hint: "Raise the output limit (max_tokens) of this model, or ask for less at once.",
	}
}

func failed(err error) ending {
	return ending{reason: schema.StopError, failure: failureOf(err)}
}

// whyAborted is what an aborted call's result says, nil when its user has aborted it.
func (t *turn) whyAborted() *schema.Failure {
	if t.abortReason != schema.AbortProjectDeleted {
		return nil
	}
	return &schema.Failure{Code: schema.CodeAborted, Message: "The project was deleted. This call was not executed."}
}

// finish closes the books, whatever the end.
func (t *turn) finish(end ending) (schema.TurnOutput, error) {
	t.state = schema.TurnDone
	switch end.reason {
	case schema.StopAborted:
		t.state = schema.TurnAborted
	case schema.StopError:
		t.state = schema.TurnFailed
	}
	t.say("Ending the turn: %s", end.reason)
	if err := t.upsertState(); err != nil {
		return schema.TurnOutput{}, err
	}
	out := schema.TurnOutput{State: t.state, StopReason: end.reason, Steps: t.step, Usage: t.usage}
	err := workflow.ExecuteLocalActivity(t.local("Close the turn's books", finishBound), schema.ActivityFinishTurn, schema.FinishTurnInput{
		TurnRef: t.in.TurnRef, State: t.state, StopReason: end.reason, Steps: t.step, Usage: t.usage, Failure: end.failure,
		Limit: end.limit, AbortReason: t.abortReason,
	}).Get(t.books, nil)
	t.say("Ended: %s", end.reason)
	t.ending = true
	t.note(workflow.Await(t.books, func() bool { return len(t.decisions) == 0 }))
	return out, err
}

func (t *turn) upsertState() error {
	key := temporal.NewSearchAttributeKeyKeyword(schema.SearchTurnState)
	return workflow.UpsertTypedSearchAttributes(t.books, key.ValueSet(string(t.state)))
}

// credentialWait is the bound on the wait for the owner's token.
func (t *turn) credentialWait() time.Duration {
	return time.Duration(t.in.CredentialWait) * time.Second
}
