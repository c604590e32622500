package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"unicode"

	"gns3copilot/activities/llm"
	"gns3copilot/activities/prompt"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"
)

// Model streams an answer. It returns what there is of it beside an error.
type Model interface {
	Stream(ctx context.Context, r llm.Request, on func(llm.Delta) error) (llm.Answer, error)
}

// NoModel is the model of a worker that has none.
type NoModel struct{}

var _ Model = NoModel{}

// Stream fails with CodeModelNotConfigured.
func (NoModel) Stream(context.Context, llm.Request, func(llm.Delta) error) (llm.Answer, error) {
	return llm.Answer{}, schema.NoModel()
}

// Models calls the model.
type Models struct {
	Store *store.Store
	Bus   *progress.Bus
	Vault *vault.Vault
	Lab   Lab
	Model Model
	Tools *tools.Registry
	Log   *slog.Logger
}

// CallModel streams the assistant's message of one step to the readers and stores it. A step that has its message is not asked
// again. An abort is no error: what had been said is kept.
func (m *Models) CallModel(ctx context.Context, in schema.CallModelInput) (schema.CallModelOutput, error) {
	attempt := int(activity.GetInfo(ctx).Attempt)
	stored, err := m.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err == nil {
		return described(stored, llm.Usage{}, attempt), nil
	}
	if schema.CodeOf(err) != schema.CodeNotFound {
		return schema.CallModelOutput{}, fault(err)
	}
	run, release, err := watched(ctx, m.Bus, in.TurnID, leave)
	if err != nil {
		return schema.CallModelOutput{}, fault(err)
	}
	defer release()
	request, err := m.request(run, in)
	if err == nil {
		err = m.takeOver(run, in, attempt)
	}
	if aborted(run) {
		return schema.CallModelOutput{Aborted: true}, nil
	}
	if err != nil {
		if attempt == 1 { // later readers may have seen a beginning, of which the attempt before has told the trouble
			trouble(ctx, m.Bus, m.Log, in.TurnRef, "", err)
		}
		return schema.CallModelOutput{}, faultOf(err, 0, attempt >= mostAttempts(err)) // the model was not asked
	}
	sink := newSink(m.Bus.Publisher(in.TurnRef), messageID(in.TurnID, in.Step), in, attempt)
	answer, err := m.Model.Stream(run, request, sink.delta)
	return m.keep(ctx, run, in, sink, answer, err)
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

// keep stores and completes what the model said, whole or not.
func (m *Models) keep(ctx, run context.Context, in schema.CallModelInput, sink *sink, answer llm.Answer, failure error) (schema.CallModelOutput, error) {
	var out schema.CallModelOutput
	wasAborted := failure != nil && aborted(run)
	if superseded(run) {
		return out, fault(handedOn(run))
	}
	partial := failure != nil
	if partial && !wasAborted && sink.attempt < mostAttempts(failure) && retryable(schema.AsError(failure)) {
		trouble(ctx, m.Bus, m.Log, in.TurnRef, sink.begun(), failure)
		return out, fault(failure) // the next attempt says it all again
	}
	end, cancel := settle(ctx)
	defer cancel()
	lost := func(err error) error {
		trouble(ctx, m.Bus, m.Log, in.TurnRef, sink.begun(), err)
		return faultAt(err, sink.attempt, schema.MaxRuns)
	}
	message := assistantMessage(sink.id, in, answer)
	if !partial && message.Content == "" && message.ToolCalls == nil {
		message.Content = emptyAnswer
		if err := sink.delta(llm.Delta{Content: emptyAnswer}); err != nil {
			return out, lost(err)
		}
	}
	if partial {
		// A call that may be cut in the middle must not be run, nor stand in the conversation without a result.
		message.ToolCalls, message.Extra = nil, ""
	}
	if !partial {
		if err := sink.complete(message.ToolCalls); err != nil {
			return out, lost(err)
		}
	}
	if err := sink.pub.Flush(end); err != nil {
		return out, lost(err)
	}
	if !partial || message.Content != "" {
		kept, err := m.Store.PutAssistant(end, in.TurnRef, in.Step, sink.attempt, message)
		if err != nil {
			return out, lost(err)
		}
		message = kept
	}
	if failure != nil && !wasAborted {
		return out, faultAt(failure, sink.attempt, mostAttempts(failure))
	}
	out = described(message, answer.Usage, sink.attempt)
	out.Aborted = wasAborted
	return out, nil
}

// emptyAnswer stands for an answer without a word, which would look like a turn that is stuck.
const emptyAnswer = "(The model gave an empty answer.)"

// described is what the workflow learns of a message.
func described(m store.Message, usage llm.Usage, attempt int) schema.CallModelOutput {
	out := schema.CallModelOutput{
		MessageID: m.ID, ContentBytes: len(m.Content),
		Usage: schema.Usage{
			InputTokens: usage.Input, OutputTokens: usage.Output, TotalTokens: usage.Input + usage.Output,
			LLMCalls: attempt, Estimated: usage.Estimated,
		},
	}
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

// request builds what the model is asked from the stored conversation and the lab, read at the same time.
func (m *Models) request(ctx context.Context, in schema.CallModelInput) (_ llm.Request, err error) {
	ctx, span := observe.Start(ctx, "build request")
	defer func() { observe.End(span, err) }()
	var conversation []store.Message
	var topology string
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		gctx, span := observe.Start(gctx, "read conversation")
		defer func() { observe.End(span, err) }()
		conversation, err = m.Store.Conversation(gctx, in.TurnRef)
		return err
	})
	group.Go(func() (err error) {
		topology, err = m.topology(gctx, in)
		return err
	})
	if err := group.Wait(); err != nil {
		return llm.Request{}, err
	}
	r := llm.Request{MaxTokens: in.MaxTokens}
	if in.Temperature != nil {
		t := float32(*in.Temperature)
		r.Temperature = &t
	}
	r.Messages = append(r.Messages, llm.Message{Role: "system", Content: prompt.System(in.Mode, topology)})
	for _, msg := range conversation {
		r.Messages = append(r.Messages, wireMessage(msg))
	}
	for _, t := range m.Tools.Definitions(in.Mode) {
		meta := t.Metadata()
		r.Tools = append(r.Tools, llm.Tool{Name: meta.Name, Description: meta.Description, Parameters: t.Schema()})
	}
	return r, nil
}

// topology is the lab as the turn's model sees it: read once, kept with the turn, and read again when asked to.
func (m *Models) topology(ctx context.Context, in schema.CallModelInput) (_ string, err error) {
	ctx, span := observe.Start(ctx, "read topology")
	defer func() { observe.End(span, err) }()
	if !in.ReloadTopology {
		turn, err := m.Store.Turn(ctx, in.TurnRef)
		if err != nil {
			return "", err
		}
		if turn.Topology != "" {
			stored, err := labOf(turn)
			return string(schema.Text(stored.ForModel())), err
		}
	}
	topology, err := readLab(ctx, m.Vault, m.Lab, in.TurnRef)
	if err != nil {
		return "", err
	}
	return string(schema.Text(topology.ForModel())), m.Store.SetTopology(ctx, in.TurnRef, string(schema.Text(topology)))
}

func wireMessage(msg store.Message) llm.Message {
	w := llm.Message{Role: msg.Role, Content: msg.Content, ToolCallID: msg.ToolCallID, Extra: json.RawMessage(msg.Extra)}
	for _, c := range msg.ToolCalls {
		w.ToolCalls = append(w.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Extra: json.RawMessage(c.Extra)})
	}
	return w
}

// restartNote is the first thing a repeated answer says, for clients that can only append.
const restartNote = "\n\n[The answer was interrupted and starts again.]\n\n"

// takeOver fences off earlier attempts, and tells readers to discard what an earlier attempt showed of this message, if it showed anything.
func (m *Models) takeOver(ctx context.Context, in schema.CallModelInput, attempt int) error {
	if attempt == 1 {
		return nil
	}
	// From here on nothing that an older attempt says is stored: it may only have been frozen.
	if err := m.Store.ClaimStep(ctx, in.TurnRef, in.Step, attempt); err != nil {
		return err
	}
	last, _, ok, err := m.Bus.Last(ctx, in.TurnRef)
	if err != nil {
		return err
	}
	id := messageID(in.TurnID, in.Step)
	if !ok || last.MessageID != id {
		return nil
	}
	for _, ev := range []schema.Event{
		{Type: schema.EventRetry, Reason: "The answer was interrupted."},
		{Type: schema.EventContent, Content: restartNote},
	} {
		ev.MessageID, ev.Attempt = id, attempt
		if err := m.Bus.Publish(ctx, in.TurnRef, ev, ""); err != nil {
			return err
		}
	}
	return nil
}
