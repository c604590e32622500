package stack

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gns3copilot/activities/llm"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"go.uber.org/goleak"
)

func TestLoadModels(t *testing.T) {
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "key")
	write(t, keyFile, "s3cret\n")
	file := filepath.Join(dir, "models.yaml")
	write(t, file, `
models:
  - {name: near, provider: ollama, model: small, context_limit: 8, temperature: 0}
  - {model: large, base_url: "https://models.example/v1", api_key_file: `+keyFile+`, context_limit: 200, context_strategy: aggressive, title_model: tiny}
`)
	models, err := LoadModels(file)
	if err != nil || len(models) != 2 {
		t.Fatalf("%v %+v", err, models)
	}
	near, far := models[0], models[1]
	if near.Name != "near" || near.Provider != "ollama" || near.ContextLimit != 8 || near.Temperature == nil || near.ID != schema.ServerModels {
		t.Errorf("the first: %+v", near)
	}
	if far.Name != "large" || far.APIKey != "s3cret" || far.ContextStrategy != schema.ContextAggressive || far.TitleModel != "tiny" {
		t.Errorf("the second: %+v", far)
	}
	if near.ContextStrategy != schema.ContextBalanced {
		t.Errorf("the strategy of one that names none: %q", near.ContextStrategy)
	}
}

func TestLoadModelsRefuses(t *testing.T) {
	const key = "sk-do-not-show"
	for name, c := range map[string]struct{ text, says string }{
		"no YAML":            {"models: [", "it is not YAML"},
		"an unknown field":   {"models: [{modell: x, context_limit: 8}]", "modell"},
		"another kind":       {"models: [{model: x, context_limit: " + key + "}]", "line 1: context_limit: a whole number is expected"},
		"a key with a fault": {"models: [{model: x, api_key: [" + key + "], context_limit: 8}]", "line 1: api_key: a text is expected"},
		"two faults":         {"models:\n- model: x\n  temperature: " + key + "\n  max_tokens: lots\n", "line 3: temperature: a number is expected; line 4: max_tokens: a whole number is expected"},
		"an odd end":         {"models:\n- model: x\n  max_tokens: into " + key + "\n", "line 3: max_tokens: a whole number is expected"},
		"no fields":          {"models: [" + key + "]", "line 1: a value of another kind"},
		"no list":            {"models: " + key, "line 1: a value of another kind"},
		"a field twice":      {"models:\n- model: x\n  api_key: " + key + "\n  api_key: " + key + "\n", "line 4: the field is there already"},
		"none":               {"models: []", "lists none"},
		"empty":              {"", "lists none"},
		"no model":           {"models: [{name: x, context_limit: 8}]", "model 1: model is missing"},
		"no limit":           {"models: [{model: x}]", "context_limit"},
		"a hot one":          {"models: [{model: x, context_limit: 8, temperature: 3}]", "temperature"},
		"an odd strategy":    {"models: [{model: x, context_limit: 8, context_strategy: brave}]", "context_strategy"},
		"no key file":        {"models: [{model: x, context_limit: 8, api_key_file: /nowhere/key}]", "/nowhere/key"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "models.yaml")
			write(t, file, c.text)
			_, err := LoadModels(file)
			if schema.CodeOf(err) != schema.CodeInvalid {
				t.Fatalf("%v", err)
			}
			if all := schema.AsError(err).Message; !strings.Contains(all, c.says) || strings.Contains(all, key) {
				t.Errorf("%q doesn't say %q, or shows the key", all, c.says)
			}
		})
	}
	if _, err := LoadModels(filepath.Join(t.TempDir(), "none.yaml")); schema.CodeOf(err) != schema.CodeInvalid {
		t.Errorf("a file that isn't there: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestModelsOfUsersAreKeptToTheHosts has a model that the list doesn't name: the server's own models may lead there, a user's may not.
func TestModelsOfUsersAreKeptToTheHosts(t *testing.T) {
	model := scriptmodel.Start()
	defer model.Close()
	model.Otherwise(func(r *scriptmodel.Reply) { r.Say("here") })
	hosts, err := schema.ParseModelHosts("models.example")
	if err != nil {
		t.Fatal(err)
	}
	own := Model{ID: schema.ServerModels, BaseURL: model.BaseURL(), Model: "m"}
	users := own
	users.ID = "of-a-user"
	s := &Stack{log: slog.New(slog.DiscardHandler)}
	before := goleak.IgnoreCurrent()
	connect, hangUp := s.connector(WorkerOptions{Models: []Model{own}, ModelHosts: hosts})
	for _, c := range []struct {
		model Model
		code  schema.Code
	}{{own, ""}, {users, schema.CodeInvalid}} {
		client, err := connect(c.model)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Role: "user", Content: "hello"}}}, nil)
		if schema.CodeOf(err) != c.code {
			t.Errorf("%s: %v", c.model.ID, err)
		}
	}
	if asked := len(model.Sent()); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	hangUp()
	goleak.VerifyNone(t, before) // no connection is kept behind the worker's end
}
