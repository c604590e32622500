package workflows

import (
	"time"

	"gns3copilot/schema"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// callModel gets one step's message. It waits for the owner's token as often as that is missing; when a model can't answer, the next of the
// turn's models is asked, and when the conversation is too long, less of it is sent. Both hold for the rest of the turn.
func (t *turn) callModel() (schema.CallModelOutput, error) {
	var given *schema.Failure // why the last model was given up that could be asked
	var refusal error         // the same as its activity has said it
	for run := 0; ; {
		out, err := t.tryModel(run, given)
		failure := failureOf(err)
		switch {
		case err == nil || t.aborted:
			return out, err
		case failure.Code == schema.CodeCredentialMissing:
			if err := t.awaitCredential(t.books); err != nil {
				return out, err
			}
			run++ // its tries are later ones than those before
		case failure.Next == schema.NextModel:
			run++
			t.model, t.trim = t.model+1, 0
			if given == nil || !unusable(failure) {
				given, refusal = failure, err
			}
		case failure.Next == schema.NextTrim:
			run++
			t.trim++
			given = nil
		case refusal != nil && unusable(failure):
			return out, refusal
		default:
			return out, err
		}
	}
}

// unusable tells that a model was not asked because its configuration is gone or at fault. What the one before it failed with is then what
// people want to know.
func unusable(f *schema.Failure) bool {
	return f.Attempts == 0 && (f.Code == schema.CodeModelNotConfigured || f.Code == schema.CodeInvalid)
}

// tryModel asks one model, up to as often as one is asked.
func (t *turn) tryModel(run int, given *schema.Failure) (schema.CallModelOutput, error) {
	ctx := workflow.WithActivityOptions(t.work, workflow.ActivityOptions{
		TaskQueue:              schema.TaskQueue,
		StartToCloseTimeout:    modelBound,
		ScheduleToStartTimeout: noWorkerWait,
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			MaximumAttempts: schema.MaxRuns, InitialInterval: time.Second, BackoffCoefficient: 3, MaximumInterval: 30 * time.Second,
		},
		Summary: "Ask the model",
	})
	t.say("Asking the model")
	var out schema.CallModelOutput
	err := workflow.ExecuteActivity(ctx, schema.ActivityCallModel, schema.CallModelInput{
		TurnRef: t.in.TurnRef, Step: t.step, Mode: t.in.Mode, Temperature: t.in.Temperature, MaxTokens: t.in.MaxTokens,
		ReloadTopology: t.labChanged, Models: t.in.Models, Model: t.model, Failed: given, Trim: t.trim, Run: run,
	}).Get(t.books, &out)
	if codeOf(err) == schema.CodeCredentialMissing {
		return out, err // nobody was asked
	}
	if err == nil {
		t.labChanged = false
	}
	out.Usage.LLMCalls = max(out.Usage.LLMCalls, triesOf(err))
	t.usage = t.usage.Add(out.Usage)
	return out, err
}
