package activities

import (
	"cmp"
	"context"
	"encoding/json"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/llm"
	"gns3copilot/activities/window"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/store"

	"golang.org/x/sync/errgroup"
)

// request builds what the model is asked from the stored conversation and the lab, read at the same time.
func (m *Models) request(ctx context.Context, in schema.CallModelInput, model chosen) (_ llm.Request, _ window.Report, err error) {
	ctx, span := observe.Start(ctx, "build request")
	defer func() { observe.End(span, err) }()
	var conversation []store.Message
	var topology gns3.Topology
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
		return llm.Request{}, window.Report{}, err
	}
	r := llm.Request{MaxTokens: cmp.Or(in.MaxTokens, model.MaxTokens), Temperature: temperature(cmp.Or(in.Temperature, model.Temperature))}
	r.Messages = append(r.Messages, llm.Message{Role: "system", Content: m.Prompts.System(in.Mode, string(schema.Text(topology.ForModel())))})
	r.Messages = append(r.Messages, dialogue(conversation)...)
	r.Tools = m.definitions(in.Mode)
	return m.fit(ctx, in, model, r, topology)
}

// definitions are the tools of a mode as the model is told of them.
func (m *Models) definitions(mode schema.Mode) []llm.Tool {
	var list []llm.Tool
	for _, t := range m.Tools.Definitions(mode) {
		meta := t.Metadata()
		list = append(list, llm.Tool{Name: meta.Name, Description: meta.Description, Parameters: t.Schema()})
	}
	return list
}

// unanswered stands where a turn ended without an answer: what it was asked for is not to be done now.
const unanswered = "(This was not answered: the turn was aborted, or it failed.)"

// dialogue is the conversation as the model reads it.
func dialogue(conversation []store.Message) []llm.Message {
	var messages []llm.Message
	for i, msg := range conversation {
		if i > 0 && msg.Role == store.RoleUser && conversation[i-1].Role != store.RoleAssistant {
			messages = append(messages, llm.Message{Role: store.RoleAssistant, Content: unanswered})
		}
		messages = append(messages, wireMessage(msg))
	}
	return messages
}

// fit leaves out what the model can't read.
func (m *Models) fit(ctx context.Context, in schema.CallModelInput, model chosen, r llm.Request, topology gns3.Topology) (_ llm.Request, _ window.Report, err error) {
	ctx, span := observe.Start(ctx, "fit conversation")
	defer func() { observe.End(span, err) }()
	fitted, report, err := m.Window.Fit(ctx, r, window.Budget{
		Limit: model.ContextLimit * 1000, Strategy: model.ContextStrategy, Harder: in.Trim, Origin: model.Origin(),
		Brief: func() string { return m.Prompts.System(in.Mode, string(schema.Text(topology.Brief()))) },
	})
	if report.Trimmed() || err != nil {
		m.Log.InfoContext(ctx, "conversation made to fit", "turn", in.TurnID, "step", in.Step, "model", model.Name, "fit", report, "error", err)
	}
	return fitted, report, err
}

// temperature is nil for the provider's own.
func temperature(t *float64) *float32 {
	if t == nil {
		return nil
	}
	v := float32(*t)
	return &v
}

// topology is the lab as the turn's model sees it: read once, kept with the turn, and read again when asked to.
func (m *Models) topology(ctx context.Context, in schema.CallModelInput) (_ gns3.Topology, err error) {
	ctx, span := observe.Start(ctx, "read topology")
	defer func() { observe.End(span, err) }()
	if !in.ReloadTopology {
		turn, err := m.Store.Turn(ctx, in.TurnRef)
		if err != nil {
			return gns3.Topology{}, err
		}
		if turn.Topology != "" {
			return labOf(turn)
		}
	}
	topology, err := readLab(ctx, credentials{m.Vault, m.Store}, m.Lab, in.TurnRef)
	if err != nil {
		return topology, err
	}
	return topology, m.Store.SetTopology(ctx, in.TurnRef, string(schema.Text(topology)))
}

func wireMessage(msg store.Message) llm.Message {
	w := llm.Message{Role: msg.Role, Content: msg.Content, ToolCallID: msg.ToolCallID, Extra: json.RawMessage(msg.Extra), ExtraFrom: msg.ExtraFrom}
	for _, c := range msg.ToolCalls {
		w.ToolCalls = append(w.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Extra: json.RawMessage(c.Extra)})
	}
	return w
}
