package activities

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
)

// Turns keeps a turn's books: its begin, what interrupts it and its end. Its activities run as local ones.
type Turns struct {
	Store *store.Store
	Bus   *progress.Bus
	Vault *vault.Vault
	Log   *slog.Logger

	Metrics *observe.Metrics // may be nil
}

// BeginTurn stores the turn and the user's message, and creates the session when it is new.
func (t *Turns) BeginTurn(ctx context.Context, in schema.BeginTurnInput) (schema.BeginTurnOutput, error) {
	want, err := t.Store.BeginTurn(ctx, in)
	trouble(ctx, t.Bus, t.Log, in.TurnRef, "", err)
	return schema.BeginTurnOutput{WantTitle: want}, fault(err)
}

// CheckCredential marks the turn as waiting for its owner's token, then looks whether the token has come meanwhile: whoever brings it
// looks for that mark after storing it, so one of the two always sees the other.
func (t *Turns) CheckCredential(ctx context.Context, in schema.CheckCredentialInput) (schema.CheckCredentialOutput, error) {
	if err := t.Store.SetTurnState(ctx, in.TurnRef, schema.TurnWaitingCredential); err != nil {
		return schema.CheckCredentialOutput{}, fault(err)
	}
	_, err := credentials{t.Vault, t.Store}.token(ctx, in.TurnRef)
	if schema.CodeOf(err) == schema.CodeCredentialMissing {
		t.Metrics.CredentialWait(ctx)
		ev := schema.Event{Type: schema.EventWaiting, Code: schema.CodeCredentialMissing, Reason: "The turn waits for its owner's GNS3 login."}
		return schema.CheckCredentialOutput{}, fault(t.Bus.Publish(ctx, in.TurnRef, ev, fmt.Sprintf("waiting/%d", in.Wait)))
	}
	if err != nil {
		return schema.CheckCredentialOutput{}, fault(err)
	}
	return schema.CheckCredentialOutput{Present: true}, fault(t.Store.SetTurnState(ctx, in.TurnRef, schema.TurnRunning))
}

// CloseCalls gives each call of a step that has no result one that says why, and tells readers.
func (t *Turns) CloseCalls(ctx context.Context, in schema.CloseCallsInput) error {
	results, err := t.Store.Results(ctx, in.TurnRef, in.Step)
	if err != nil {
		return fault(err)
	}
	for _, call := range in.Calls {
		if m, has := results[call.ID]; has {
			// Stored, but perhaps never told: the worker may have died between the two.
			if err := t.tellEnd(ctx, in.TurnRef, m); err != nil {
				return fault(err)
			}
			continue
		}
		response, ok, err := begun(ctx, t.Store, in, call)
		if err != nil {
			return fault(err)
		}
		if !ok {
			response = closing(call.Name, in)
		}
		m, added, err := t.Store.PutResult(ctx, in.TurnRef, in.Step, call.ID, string(schema.TextIndent(response)), "")
		if err != nil {
			return fault(err)
		}
		if added {
			t.Metrics.ToolCall(ctx, call.Name, outcome(response))
			t.Log.InfoContext(ctx, "tool call ended", "call", call.ID, "tool", call.Name, "outcome", outcome(response))
		}
		if err := t.tellEnd(ctx, in.TurnRef, m); err != nil {
			return fault(err)
		}
	}
	return nil
}

func (t *Turns) tellEnd(ctx context.Context, ref schema.TurnRef, m store.Message) error {
	return t.Bus.Publish(ctx, ref, toolEnd(m), "end/"+m.ToolCallID)
}

// toolEnd is the event of a stored result: what readers see is what the history holds.
func toolEnd(m store.Message) schema.Event {
	return schema.Event{Type: schema.EventToolEnd, ToolName: m.Name, ToolCallID: m.ToolCallID, ToolOutput: m.Content}
}

// closing is the result of a call that didn't run to its end.
func closing(tool string, in schema.CloseCallsInput) schema.ToolResponse {
	if in.Closing == schema.ClosingAborted {
		why := "Aborted by the user. This call was not executed."
		if in.Failure != nil {
			why = in.Failure.Message
		}
		r := schema.FailedToolResponse(tool, schema.Errorf(schema.CodeAborted, "%s", why), 0, time.Now())
		r.Status = schema.OutcomeAborted
		return r
	}
	f := schema.Failure{Code: schema.CodeInternal, Message: "The call could not be run."}
	if in.Failure != nil {
		f = *in.Failure
	}
	return schema.FailedToolResponse(tool, schema.Errorf(f.Code, "%s", f.Message).WithHint("%s", f.Hint), 0, time.Now())
}

// FinishTurn closes the turn's books and tells readers how it ended. It does so on every outcome, and again when it is run again:
// readers stop at the first done.
func (t *Turns) FinishTurn(ctx context.Context, in schema.FinishTurnInput) error {
	if err := t.tellLimit(ctx, in); err != nil {
		return fault(err)
	}
	if err := t.balance(ctx, &in); err != nil {
		return fault(err)
	}
	finished, err := t.closeBooks(ctx, in)
	if err != nil {
		return fault(err)
	}
	if !finished.Again {
		t.Metrics.TurnEnded(ctx, finished.StopReason)
		attrs := []any{"session", in.SessionID, "project", in.ProjectID, "stop_reason", finished.StopReason, "steps", in.Steps,
			"tool_calls", in.Usage.ToolCalls, "tokens", in.Usage.TotalTokens, "cost", schema.Dollars(in.Usage.CostMicroUSD)}
		if in.Failure != nil {
			attrs = append(attrs, "code", in.Failure.Code)
		}
		t.Log.InfoContext(ctx, "turn ended", attrs...)
	}
	if err := t.Vault.Drop(ctx, in.TurnID, in.UserID); err != nil {
		// The sealed token ends by itself; the turn's end must not wait for it.
		t.Log.WarnContext(ctx, "token not dropped", "turn", in.TurnID, "error", err)
	}
	for _, ev := range lastEvents(in, finished) {
		if err := t.Bus.Publish(ctx, in.TurnRef, ev, "last/"+string(ev.Type)); err != nil {
			return fault(err)
		}
	}
	return nil
}

func (t *Turns) closeBooks(ctx context.Context, in schema.FinishTurnInput) (store.Finished, error) {
	first, err := t.Store.FirstMessage(ctx, in.TurnRef)
	if err != nil {
		return store.Finished{}, err
	}
	finished, err := t.Store.FinishTurn(ctx, in, fallbackTitle(first))
	if schema.CodeOf(err) == schema.CodeNotFound {
		// The turn could not even be stored: it has no books, but it has readers.
		return store.Finished{State: in.State, StopReason: in.StopReason}, nil
	}
	return finished, err
}

func lastEvents(in schema.FinishTurnInput, f store.Finished) []schema.Event {
	var events []schema.Event
	if in.Failure != nil {
		events = append(events, schema.Event{Type: schema.EventError, Error: in.Failure.Message, Code: in.Failure.Code, Hint: in.Failure.Hint, Model: in.Failure.Model})
	}
	if f.State == schema.TurnAborted {
		events = append(events, schema.Event{Type: schema.EventAbort, Reason: string(cmp.Or(in.AbortReason, schema.AbortUser))})
	}
	if f.TitleChanged {
		events = append(events, schema.Event{Type: schema.EventTitle, Title: f.Title})
	}
	return append(events, schema.Event{Type: schema.EventDone, TurnID: in.TurnID, Usage: in.Usage.View(), StopReason: f.StopReason})
}
