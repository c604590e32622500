package dev_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/dev"
	"gns3copilot/schema"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
)

// started is what the session's last turn was started with.
func started(t *testing.T, s *dev.Stack, session string) (in schema.TurnInput) {
	t.Helper()
	c := operatorOf(t, s)
	run := awaitRun(t, c, listOf(session))
	history := c.GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	event, err := history.Next()
	if err != nil {
		t.Fatal(err)
	}
	payloads := event.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := converter.GetDefaultDataConverter().FromPayloads(payloads, &in); err != nil {
		t.Fatal(err)
	}
	return in
}

// began runs a turn of a new session with these fields beside the message, and gives what it was started with.
func (u user) began(path string, fields ...string) schema.TurnInput {
	u.t.Helper()
	suite.model.On("which model", text("this one"))
	session := newSession()
	body := `{"message": "which model", "session_id": "` + strings.Join(append([]string{session + `"`}, fields...), ", ") + `}`
	if a := u.ask(http.MethodPost, u.chatPath(path), body, u.bearer()...); a.status != http.StatusOK || !strings.Contains(a.text, `"type":"done"`) {
		u.t.Fatalf("%s: %d %s", body, a.status, a.text)
	}
	return started(u.t, suite.stack, session)
}

// TestATurnsModelsAreChosenAtItsStart looks into the workflow's input for whom a turn asks, in which order and in which mode.
func TestATurnsModelsAreChosenAtItsStart(t *testing.T) {
	admin, u := login(t, "admin"), login(t, "student")
	group, models := admin.studentModels(), u.models()
	defer admin.clearModels(suite.stack, group)
	defer u.clearModels(suite.stack, models)
	check := func(what string, in schema.TurnInput, mode schema.Mode, steps int, want ...shownModel) {
		t.Helper()
		var ids []string
		for _, m := range want {
			ids = append(ids, m.ConfigID)
		}
		if !slices.Equal(in.Models, ids) || in.Mode != mode || in.Steps != steps {
			t.Errorf("%s: %v in %s with %d steps, want %v in %s with %d", what, in.Models, in.Mode, in.Steps, ids, mode, steps)
		}
	}
	server := shownModel{}
	server.ConfigID = schema.ServerModels
	const named = `"model_config_id": "`
	check("without any", u.began("/stream"), schema.ModeAutomation, 20)
	check("the server's by name", u.began("/stream", named+`server"`), schema.ModeAutomation, 20, server)
	speech := u.model(models, strings.Replace(modelBody("speech", `"is_default": true`), `"text"`, `"stt"`, 1))
	check("with one that can't answer", u.began("/stream"), schema.ModeAutomation, 20)

	shared := admin.model(group, modelBody("shared", `"copilot_mode": "troubleshooting_injection"`))
	check("a group's", u.began("/stream"), schema.ModeInjection, 50, shared)
	first := u.model(models, modelBody("first", `"copilot_mode": "teaching_assistant"`))
	check("the first", u.began("/stream"), schema.ModeTeaching, 20, first)
	admin.wantModel(http.StatusOK, http.MethodPut, group+"/default/"+shared.ConfigID, "")
	check("a group's default", u.began("/stream"), schema.ModeInjection, 50, shared)
	second := u.model(models, modelBody("second", `"failover": ["`+first.ConfigID+`", "server", "`+shared.ConfigID+`"]`, `"is_default": true`))
	check("one's default and what it goes on with", u.began("/stream"), schema.ModeAutomation, 20, second, first, server, shared)

	check("a named one", u.began("/stream", named+first.ConfigID+`"`), schema.ModeTeaching, 20, first)
	check("in capitals", u.began("/stream", named+strings.ToUpper(first.ConfigID)+`"`), schema.ModeTeaching, 20, first)
	check("a group's by name", u.began("/stream", named+shared.ConfigID+`"`), schema.ModeInjection, 50, shared)
	check("a mode of one's own", u.began("/stream", named+first.ConfigID+`"`, `"copilot_mode": "lab_automation_assistant"`), schema.ModeAutomation, 20, first)
	check("a fault to find", u.began("/inject", named+first.ConfigID+`"`), schema.ModeInjection, 50, first)
	check("the page's switch of the mode", func() schema.TurnInput {
		u.wantModel(http.StatusOK, http.MethodPut, models+"/"+second.ConfigID, `{"copilot_mode": "teaching_assistant"}`)
		u.wantModel(http.StatusOK, http.MethodPut, models+"/default/"+second.ConfigID, "")
		return u.began("/stream")
	}(), schema.ModeTeaching, 20, second, first, server, shared)

	foreign := admin.model(admin.models(), modelBody("of another"))
	defer admin.clearModels(suite.stack, admin.models())
	for what, id := range map[string]string{"another user's": foreign.ConfigID, "none": nowhere, "words": "gpt", "speech": speech.ConfigID} {
		for _, path := range []string{"/stream", "/inject"} {
			a := u.ask(http.MethodPost, u.chatPath(path), `{"message": "which model", "model_config_id": "`+id+`"}`, u.bearer()...)
			checkRefused(t, what, a, http.StatusUnprocessableEntity, schema.CodeInvalid)
			if !strings.HasPrefix(a.Message, "1 validation error: model_config_id: ") {
				t.Errorf("%s: %s", what, a.text)
			}
		}
	}

	for _, gone := range []string{models + "/" + first.ConfigID, group + "/" + shared.ConfigID} {
		if a := admin.ask(http.MethodDelete, gone, "", admin.bearer()...); a.status != http.StatusNoContent {
			t.Errorf("%d %s", a.status, a.text)
		}
	}
	check("what is left of a list", u.began("/stream"), schema.ModeTeaching, 20, second, server)
}

// TestARepeatedRequestKeepsItsModels attaches to a turn although what it named is gone, and refuses another model under the key.
func TestARepeatedRequestKeepsItsModels(t *testing.T) {
	u := login(t, "student")
	models := u.models()
	defer u.clearModels(suite.stack, models)
	made := u.model(models, modelBody("for once"))
	suite.model.On("once with it", text("this one"))
	key := append(u.bearer(), "Idempotency-Key", newSession())
	body := func(id string) string { return `{"message": "once with it", "model_config_id": "` + id + `"}` }
	first := u.ask(http.MethodPost, u.chatPath("/stream"), body(made.ConfigID), key...)
	if first.status != http.StatusOK || !strings.Contains(first.text, `"stop_reason":"complete"`) {
		t.Fatalf("%d %s", first.status, first.text)
	}
	other := u.ask(http.MethodPost, u.chatPath("/stream"), body(schema.ServerModels), key...)
	checkRefused(t, "another model under the key", other, http.StatusUnprocessableEntity, schema.CodeInvalid)
	u.clearModels(suite.stack, models)
	if again := u.ask(http.MethodPost, u.chatPath("/stream"), body(made.ConfigID), key...); again.text != first.text {
		t.Errorf("%d %s\nwant %s", again.status, again.text, first.text)
	}
}

// TestATurnNeedsSomeModel: where the server has none, a configuration of the user's is enough.
func TestATurnNeedsSomeModel(t *testing.T) {
	s := startOwn(t, func(o *dev.Options) { o.Worker.Models, o.NoDemoModel = nil, true })
	u := loginAt(t, s.URL(), "admin")
	ask := func(body string) answer {
		t.Helper()
		return u.askAt(s.Stack, http.MethodPost, u.chatPath("/stream"), body, u.bearer()...)
	}
	const hello, none = `{"message": "hello"}`, `{"message": "hello", "model_config_id": "server"}`
	checkRefused(t, "without any", ask(hello), http.StatusBadRequest, schema.CodeModelNotConfigured)
	var made shownModel
	u.jsonAt(s.Stack, http.MethodPost, modelsOf(u.idAt(s.Stack)), modelBody("mine"), &made)
	suite.model.On("hello", text("hi"))
	if a := ask(hello); a.status != http.StatusOK || !strings.Contains(a.text, `"type":"done"`) {
		t.Errorf("%d %s", a.status, a.text)
	}
	checkRefused(t, "the server's by name", ask(none), http.StatusBadRequest, schema.CodeModelNotConfigured)
}
