package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gns3copilot/activities/llm"
	"gns3copilot/activities/tools"
	"gns3copilot/activities/window"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// The smallest call that needs all that a chat needs of a model.
const (
	tryTool     = "report_ready"
	tryPrompt   = "You are being tried out. Call the tool " + tryTool + " once, with status set to ready."
	tryMessage  = "Are you ready?"
	tryTokens   = 500 // of the answer: thoughts count too
	tryToolText = "Reports whether you are ready."
)

// TryModel asks a configuration's model one short question and says what came of it. What the provider does wrong is part of the result,
// not an error.
func (m *Models) TryModel(ctx context.Context, in schema.ModelTestInput) (schema.ModelTest, error) {
	run, release, err := watched(ctx, m.Bus, schema.ModelTestID(in.ConfigID), leave)
	if err != nil {
		return schema.ModelTest{}, fault(err)
	}
	defer release()
	began := time.Now()
	model, err := m.Catalog.at(run, []string{in.ConfigID}, 0)
	out := schema.ModelTest{Provider: model.Provider, Model: model.ModelSettings.Model}
	var answer llm.Answer
	if err == nil {
		answer, err = model.Stream(run, tryRequest(model), func(llm.Delta) error {
			if out.FirstContentMS == 0 {
				out.FirstContentMS = max(1, time.Since(began).Milliseconds())
			}
			return nil
		})
		m.Ledger.note(ctx, schema.TurnRef{UserID: in.UserID}, 0, store.PurposeTry, model.ModelSettings, answer, err)
		var call store.ModelCall
		m.Ledger.weigh(&call, model.ModelSettings, answer, err)
		used := call.Usage()
		used.LLMCalls = 1
		out.Usage = *used.View()
	}
	out.DurationMS = max(out.FirstContentMS, time.Since(began).Milliseconds())
	if superseded(run) {
		return out, fault(handedOn(run))
	}
	if schema.CodeOf(err) == schema.CodeUnavailable {
		return out, fault(err)
	}
	if err == nil {
		err = m.roomy(run, model)
	}
	judgeTry(&out, answer, err)
	return out, nil
}

// roomy fails with CodeModelContext for a model that can't read what each turn begins with, or too little to be told how devices are asked.
func (m *Models) roomy(ctx context.Context, model chosen) error {
	told, report, err := m.Window.Fit(ctx, llm.Request{
		Messages: []llm.Message{{Role: "system", Content: m.Prompts.System(schema.ModeAutomation, "")}, {Role: store.RoleUser, Content: tryMessage}},
		Tools:    m.definitions(schema.ModeAutomation), MaxTokens: model.MaxTokens,
	}, window.Budget{Limit: model.ContextLimit * 1000, Strategy: model.ContextStrategy, Origin: model.Origin()})
	asks := func(t llm.Tool) bool { return t.Name == tools.DeviceCommandsName }
	if err == nil && !slices.ContainsFunc(told.Tools, asks) {
		err = schema.Errorf(schema.CodeModelContext, "The model's context leaves room for %d tokens, which is too few to tell it of the tools that it needs.", report.Room).
			WithHint("Raise context_limit if the model reads more, or use a model that does.")
	}
	return err
}

func tryRequest(model chosen) llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: "system", Content: tryPrompt}, {Role: store.RoleUser, Content: tryMessage}},
		Tools: []llm.Tool{{Name: tryTool, Description: tryToolText, Parameters: json.RawMessage(
			`{"type": "object", "properties": {"status": {"type": "string", "enum": ["ready"]}}, "required": ["status"]}`)}},
		Temperature: temperature(model.Temperature), MaxTokens: tryTokens,
	}
}

// judgeTry words what came of a try.
func judgeTry(out *schema.ModelTest, answer llm.Answer, err error) {
	out.Answered = answer.Content != "" || len(answer.ToolCalls) > 0
	for _, c := range answer.ToolCalls {
		out.Called = out.Called || c.Name == tryTool
	}
	out.OK = err == nil && out.Called
	switch e := schema.AsError(err); {
	case err != nil:
		out.Code, out.Verdict, out.Hint = e.Code, e.Message, e.Hint
	case out.Called:
		out.Verdict = fmt.Sprintf("%s answers and calls tools.", out.Model)
	case out.Answered:
		out.Verdict = fmt.Sprintf("%s answers, but it didn't call the tool that it was asked to call. It can talk about a lab and not look at it.", out.Model)
		out.Hint = "Choose a model that supports tools, or switch them on in the model's server."
	default:
		out.Verdict = fmt.Sprintf("%s gave an empty answer.", out.Model)
		out.Hint = "Check the model's name and its server."
	}
}
