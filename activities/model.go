package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"gns3copilot/activities/llm"
	"gns3copilot/activities/tools"
	"gns3copilot/activities/window"
	"gns3copilot/schema"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
)

// Model streams an answer. It returns what there is of it beside an error.
type Model interface {
	Stream(ctx context.Context, r llm.Request, on func(llm.Delta) error) (llm.Answer, error)
	// Origin tells providers apart: what one wants back of an answer is nothing to another.
	Origin() string
}

// Prompts gives the model's instructions, as they are now.
type Prompts interface {
	// System is for a turn in a mode, in a lab whose topology is JSON, or empty when it could not be read.
	System(mode schema.Mode, topology string) string
	// Title is for making a session's title.
	Title() string
}

// Models calls the models.
type Models struct {
	Store   *store.Store
	Bus     *progress.Bus
	Vault   *vault.Vault
	Lab     Lab
	Catalog *Catalog
	Tools   *tools.Registry
	Window  *window.Window
	Prompts Prompts // asked for each call, so that new ones are in use from the next on
	Ledger  *Ledger
	Log     *slog.Logger
}

// CallModel streams the assistant's message of one step to the readers and stores it. A step that has its message is not asked
// again. An abort is no error: what had been said is kept.
func (m *Models) CallModel(ctx context.Context, in schema.CallModelInput) (schema.CallModelOutput, error) {
	attempt := int(activity.GetInfo(ctx).Attempt)
	stored, err := m.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err == nil {
		used, day := m.Ledger.step(ctx, in.TurnRef, in.Step)
		return described(stored, used, day, attempt), nil
	}
	if schema.CodeOf(err) != schema.CodeNotFound {
		return schema.CallModelOutput{}, fault(err)
	}
	run, release, err := watched(ctx, m.Bus, in.TurnID, leave)
	if err != nil {
		return schema.CallModelOutput{}, fault(err)
	}
	defer release()
	model, err := m.Catalog.at(run, in.Models, in.Model)
	var request llm.Request
	var report window.Report
	if err == nil {
		request, report, err = m.request(run, in, model)
	}
	if err == nil {
		err = m.takeOver(run, in, model, attempt)
	}
	if aborted(run) {
		return schema.CallModelOutput{Aborted: true}, nil
	}
	if err != nil {
		if attempt == 1 { // later readers may have seen a beginning, of which the attempt before has told the trouble
			trouble(ctx, m.Bus, m.Log, in.TurnRef, "", err)
		}
		// The model was not asked.
		return schema.CallModelOutput{}, faultOf(err, schema.Failure{Next: next(err, in, false, model.last)}, attempt >= mostAttempts(err))
	}
	m.tellTrimmed(ctx, in, report)
	sink := newSink(m.Bus.Publisher(in.TurnRef), messageID(in.TurnID, in.Step), in, attempt)
	answer, err := model.Stream(run, request, sink.delta)
	return m.keep(ctx, run, in, model, sink, answer, err)
}

// tellTrimmed tells readers how many messages the model is not sent, once for each number. It is for watching only.
func (m *Models) tellTrimmed(ctx context.Context, in schema.CallModelInput, report window.Report) {
	if report.Dropped == 0 {
		return
	}
	ev := schema.Event{Type: schema.EventTrimmed, LeftOut: report.Dropped}
	if err := m.Bus.Tell(in.TurnRef, ev, fmt.Sprintf("trimmed/%d", report.Dropped)); err != nil {
		m.Log.WarnContext(ctx, "trimmed conversation not told", "turn", in.TurnID, "error", err)
	}
}

// mostAttempts is how often a call is tried that fails so: a model or a GNS3 server that fails is soon given up, while what is ours, such as
// the event stream, is waited for.
func mostAttempts(err error) int {
	switch schema.CodeOf(err) {
	case schema.CodeModelBusy, schema.CodeModelUnreachable:
		return schema.ModelAttempts
	case schema.CodeGNS3Unavailable:
		return schema.ToolAttempts
	default:
		return schema.MaxRuns
	}
}

// patience is how long a provider may let us wait while there is another model behind it.
const patience = 10 * time.Second

// askAgain tells whether the same model is asked once more.
func askAgain(failure error, attempt int, last bool) bool {
	e := schema.AsError(failure)
	return attempt < mostAttempts(failure) && retryable(e) && (last || e.RetryAfter <= patience)
}

// maxTrims is how often a conversation is made shorter that the model finds too long.
const maxTrims = 1

// next is what else may get the step its message, when a call has failed for good. asked says whether the model itself has refused it.
func next(err error, in schema.CallModelInput, asked, last bool) schema.Next {
	switch schema.CodeOf(err) {
	case schema.CodeModelContext:
		if asked && in.Trim < maxTrims {
			return schema.NextTrim
		}
		fallthrough // another may read more
	case schema.CodeModelNotConfigured, schema.CodeInvalid, schema.CodeModelAuth, schema.CodeModelQuota, schema.CodeModelBusy, schema.CodeModelUnreachable, schema.CodeModelBroken:
		if !last {
			return schema.NextModel
		}
	}
	return ""
}

// keep stores and completes what the model said, whole or not.
func (m *Models) keep(ctx, run context.Context, in schema.CallModelInput, model chosen, sink *sink, answer llm.Answer, failure error) (schema.CallModelOutput, error) {
	var out schema.CallModelOutput
	used, day := m.Ledger.note(ctx, in.TurnRef, in.Step, store.PurposeAnswer, model.ModelSettings, answer, failure)
	wasAborted := failure != nil && aborted(run)
	if superseded(run) {
		return out, fault(handedOn(run))
	}
	// The complete calls of an answer that the output limit ended are run, and the model is told of the one that was cut.
	cut := schema.CodeOf(failure) == schema.CodeModelTruncated && len(answer.ToolCalls) > 0
	if cut {
		failure = nil
	}
	if failure != nil && !wasAborted {
		again := askAgain(failure, sink.attempt, model.last)
		then := next(failure, in, true, model.last)
		if again {
			trouble(ctx, m.Bus, m.Log, in.TurnRef, sink.begun(), failure)
		}
		if again || then != "" {
			return out, faultOf(failure, schema.Failure{Model: model.Name, Attempts: sink.attempt, Next: then}, !again) // what comes says it all again
		}
	}
	message := assistantMessage(sink.id, in, answer)
	message.ExtraFrom = model.Origin()
	if message.Truncated = cut; cut {
		spoil(&message.ToolCalls[len(message.ToolCalls)-1])
	}
	message, err := m.put(ctx, in, sink, message, failure != nil)
	if err != nil {
		trouble(ctx, m.Bus, m.Log, in.TurnRef, sink.begun(), err)
		return out, faultAt(err, sink.attempt, schema.MaxRuns)
	}
	if failure != nil && !wasAborted {
		return out, faultOf(failure, schema.Failure{Model: model.Name, Attempts: sink.attempt}, sink.attempt >= mostAttempts(failure))
	}
	out = described(message, used, day, sink.attempt)
	out.Aborted = wasAborted
	return out, nil
}

// put completes a message for its readers and stores it. Of one that broke off its text alone is kept: a call that may be cut in the middle
// must not be run, nor stand in the conversation without a result.
func (m *Models) put(ctx context.Context, in schema.CallModelInput, sink *sink, message store.Message, partial bool) (store.Message, error) {
	end, cancel := settle(ctx)
	defer cancel()
	if partial {
		message.ToolCalls, message.Extra, message.ExtraFrom = nil, "", ""
	} else {
		if message.Content == "" && message.ToolCalls == nil {
			message.Content = emptyAnswer
			if err := sink.delta(llm.Delta{Content: emptyAnswer}); err != nil {
				return message, err
			}
		}
		if err := sink.complete(message.ToolCalls); err != nil {
			return message, err
		}
	}
	if err := sink.pub.Flush(end); err != nil {
		return message, err
	}
	if partial && message.Content == "" {
		return message, nil
	}
	return m.Store.PutAssistant(end, in.TurnRef, in.Step, try(in, sink.attempt), message)
}

// spoil keeps a call that the output limit cut before its arguments began, which then look as if there were none, from being run.
func spoil(c *store.ToolCall) {
	if json.Valid([]byte(c.Arguments)) {
		c.Arguments = "{"
		c.SHA256 = tools.HashArguments(c.Arguments)
	}
}

// emptyAnswer stands for an answer without a word, which would look like a turn that is stuck.
const emptyAnswer = "(The model gave an empty answer.)"

// described is what the workflow learns of a message.
func described(m store.Message, used schema.Usage, day *schema.DaySum, attempt int) schema.CallModelOutput {
	used.LLMCalls = attempt
	out := schema.CallModelOutput{MessageID: m.ID, ContentBytes: len(m.Content), Usage: used, Day: day, Truncated: m.Truncated}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, schema.Call{ID: c.ID, Name: c.Name, ArgsSHA256: c.SHA256})
	}
	return out
}

// messageNamespace is where the ids of messages and calls are derived in, so that a repeated step names them the same.
var messageNamespace = uuid.MustParse("b0c6a7b2-94a5-4a53-8a3f-5d1c6d2f9c11")

func messageID(turnID string, step int) string {
	return uuid.NewSHA1(messageNamespace, fmt.Appendf(nil, "%s/%d", turnID, step)).String()
}

// callID names a tool call. The provider's own id isn't used: some number the calls of each answer anew, some give none.
func callID(in schema.CallModelInput, index int) string {
	id := uuid.NewSHA1(messageNamespace, fmt.Appendf(nil, "%s/%d/%d", in.TurnID, in.Step, index))
	return fmt.Sprintf("call_%x", id[:12])
}

// cleanName makes a tool's name such as providers take back in the next request, whatever the model invented.
func cleanName(s string) string {
	const most = 64
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, s[:min(len(s), most)])
	if name == "" {
		return "unnamed"
	}
	return name
}

func assistantMessage(id string, in schema.CallModelInput, answer llm.Answer) store.Message {
	m := store.Message{ID: id, Content: answer.Content, Extra: string(answer.Extra)}
	for i, c := range answer.ToolCalls {
		arguments := schema.CutText(c.Arguments, tools.MaxArguments)
		m.ToolCalls = append(m.ToolCalls, store.ToolCall{
			ID: callID(in, i), Name: cleanName(c.Name), Arguments: arguments, SHA256: tools.HashArguments(arguments), Extra: string(c.Extra),
		})
	}
	return m
}

// restartNote is the last thing that an interrupted answer says, for clients that can only append.
const restartNote = "\n\n[The answer was interrupted and starts again.]\n\n"

// try counts the tries of a step, over all activities that were begun for it.
func try(in schema.CallModelInput, attempt int) int { return in.Run*schema.MaxRuns + attempt }

// takeOver fences off earlier tries, tells readers to discard what an earlier one showed of this message, if it showed anything, and that
// another model goes on.
func (m *Models) takeOver(ctx context.Context, in schema.CallModelInput, model chosen, attempt int) error {
	if try(in, attempt) == 1 {
		return nil
	}
	// From here on nothing that an older try says is stored: it may only have been frozen.
	if err := m.Store.ClaimStep(ctx, in.TurnRef, in.Step, try(in, attempt)); err != nil {
		return err
	}
	last, _, ok, err := m.Bus.Last(ctx, in.TurnRef)
	if err != nil {
		return err
	}
	id := messageID(in.TurnID, in.Step)
	var events []schema.Event
	if ok && last.MessageID == id {
		events = append(events,
			// It goes with what it is about: a client that discards that has what the history will have.
			schema.Event{Type: schema.EventContent, Content: restartNote, MessageID: id, Attempt: try(in, attempt) - 1},
			schema.Event{Type: schema.EventRetry, Reason: "The answer was interrupted.", MessageID: id, Attempt: try(in, attempt)})
	}
	for _, ev := range events {
		if err := m.Bus.Publish(ctx, in.TurnRef, ev, ""); err != nil {
			return err
		}
	}
	if in.Failed != nil { // each attempt tells it: the one before may have ended too early
		ev := schema.Event{Type: schema.EventFailover, Model: model.Name, Reason: in.Failed.Message, Code: in.Failed.Code}
		return m.Bus.Publish(ctx, in.TurnRef, ev, fmt.Sprintf("failover/%d/%d", in.Step, in.Run))
	}
	return nil
}
