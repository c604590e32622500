//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

const (
	newConfig  = dialog + " .toolbar-actions button"
	configRows = dialog + " tr.mat-mdc-row"
	option     = "mat-option"
	modelChip  = ".gns3-chat-input-area__model-chip"
)

// testModels configures models on the user's AI profile page, and switches between them and between modes in the chat panel.
func testModels(t *testing.T) {
	site.lab.withoutModels(t)
	t.Cleanup(func() { site.lab.withoutModels(t) })
	p := newPage(t)
	p.signIn(t)

	p.step(t, "model settings: none yet", func(t *testing.T) {
		p.openManagement(t)
		p.openProfile(t, "admin")
		p.see(t, dialog, "No configurations yet")
	})

	p.step(t, "model settings: create a default", func(t *testing.T) {
		p.fillModel(t, "lab-model", "OpenAI", site.model.BaseURL(), "scripted-one")
		p.choose(t, "mat-select[formcontrolname=copilot_mode]", "Lab Automation Assistant")
		p.click(t, "mat-checkbox[formcontrolname=is_default] input", "")
		p.picture(t, "model settings: the form")
		p.click(t, dialog+" button", "Create")
		p.see(t, notice, "Configuration created successfully")
		p.see(t, configRows, "scripted-one")
		p.see(t, configRows+".active-row", "lab-model")
	})

	p.step(t, "model settings: a second one by a preset", func(t *testing.T) {
		p.click(t, newConfig, "New Configuration")
		p.fill(t, "input[formcontrolname=name]", "deepseek")
		p.choose(t, dialog+" .basic-mode mat-select:not([formcontrolname])", "DeepSeek")
		p.fill(t, "input[formcontrolname=api_key]", "sk-never-used-1")
		p.click(t, dialog+" button", "Create")
		p.see(t, configRows, "deepseek.com")
	})

	p.step(t, "model settings: Ollama without an address", func(t *testing.T) {
		p.fillModel(t, "at-home", "Ollama", "", "qwen3")
		p.click(t, dialog+" button", "Create")
		p.see(t, configRows, "qwen3")
		if got := site.lab.model(t, "at-home").Config.BaseURL; got != "http://127.0.0.1:11434/v1" {
			t.Errorf("its base URL is %q", got)
		}
	})

	p.step(t, "model settings: another default", func(t *testing.T) {
		p.row(t, "deepseek", 0)
		p.see(t, notice, "Default configuration set successfully")
		p.see(t, configRows+".active-row", "deepseek")
		p.gone(t, configRows+".active-row", "lab-model")
	})

	p.step(t, "model settings: edit", func(t *testing.T) {
		before := site.lab.model(t, "lab-model")
		p.row(t, "lab-model", 1)
		p.click(t, "mat-button-toggle button", "Custom Mode")
		p.fill(t, "input[formcontrolname=model]", "scripted-two")
		p.fill(t, "input[formcontrolname=temperature]", "0.2")
		p.picture(t, "model settings: the form of an edit")
		p.click(t, dialog+" button", "Save")
		p.see(t, notice, "Configuration updated successfully")
		p.see(t, configRows, "scripted-two")
		after := site.lab.model(t, "lab-model")
		want := before.Config
		want.Model, want.Temperature = "scripted-two", 0.2
		if got := string(schema.Text(after.Config)); got != string(schema.Text(want)) || !after.HasAPIKey {
			t.Errorf("after the edit: key %v, %s, want %s", after.HasAPIKey, got, schema.Text(want))
		}
	})

	p.step(t, "model settings: a wrong base URL is explained", func(t *testing.T) {
		p.fillModel(t, "nowhere", "OpenAI", "not an address", "m")
		p.click(t, dialog+" button", "Create")
		p.see(t, notice, "base_url: must be an http or https address")
	})

	p.step(t, "model settings: delete", func(t *testing.T) {
		p.row(t, "deepseek", 2)
		p.see(t, dialog, `Are you sure you want to delete configuration "deepseek"?`)
		p.click(t, dialog+" button", "Delete")
		p.see(t, notice, "Configuration deleted successfully")
		p.gone(t, configRows, "deepseek")
		p.click(t, dialog+" mat-dialog-actions button", "Close")
	})

	second := schema.ModelConfig{}
	p.step(t, "chat panel: model switch", func(t *testing.T) {
		site.lab.must(t, http.MethodPost, site.lab.models(), map[string]any{"name": "other", "model_type": "text", "provider": "openai", "base_url": site.model.BaseURL(),
			"model": "scripted-other", "api_key": modelKey, "context_limit": 128, "copilot_mode": "teaching_assistant"}, &second)
		p.open(t, "/static/web-ui/controller/1/projects")
		p.openProject(t)
		p.openChat(t)
		p.click(t, modelChip, "")
		p.see(t, menuItem, "scripted-other (127.0.0.1)")
		p.picture(t, "chat panel: the model menu")
		p.click(t, menuItem, "scripted-other")
		p.see(t, notice, "Switched to Scripted Other")
		p.see(t, modelChip, "Scripted Other")
		p.asks(t, "Which model are you?", "scripted-other", "teaching_assistant")
	})

	p.step(t, "chat panel: mode switch", func(t *testing.T) {
		p.click(t, modelChip, "")
		p.click(t, menuItem, "Lab Automation")
		p.see(t, notice, "Switched to Lab Automation mode")
		p.asks(t, "And now?", "scripted-other", "lab_automation_assistant")
		if got := site.lab.model(t, "other").Config.CopilotMode; got == nil || *got != schema.ModeAutomation {
			t.Errorf("the configuration's mode: %v", got)
		}
	})
}

// asks sends a message and looks which model was asked, and whether it may change devices, as in one of the modes alone.
func (p *page) asks(t *testing.T, message, model, mode string) {
	t.Helper()
	var asked scriptmodel.Request
	site.model.On(message, func(r *scriptmodel.Reply) { asked = r.Request; r.Say("Heard: " + message) })
	p.send(t, message)
	p.see(t, answers, "Heard: "+message)
	p.ended(t)
	configures := false
	for _, tool := range asked.Tools {
		configures = configures || strings.Contains(string(tool), "execute_multiple_device_config_commands")
	}
	if asked.Model != model || configures != (mode == "lab_automation_assistant") {
		t.Errorf("asked model %q, with configuration %v, want %q in %s", asked.Model, configures, model, mode)
	}
}

// openManagement opens the list of users.
func (p *page) openManagement(t *testing.T) {
	t.Helper()
	p.click(t, "mat-toolbar button", "more_vert")
	p.click(t, menuItem, "Management")
}

// openProfile opens the model configurations of a user or a group, in the list of these.
func (p *page) openProfile(t *testing.T, name string) {
	t.Helper()
	const rows = ":is(mat-row, tr.mat-mdc-row)" // the one of users, the other of groups
	p.find(t, rows, name)
	at := slices.IndexFunc(p.texts(t, rows), func(row string) bool { return strings.HasPrefix(row, name) })
	p.clickNth(t, rows+" button", "psychology", max(at, 0))
	p.see(t, dialog, "AI Profiles - "+name)
	p.see(t, dialog, "New Configuration")
}

// fillModel fills the form of a new configuration, in the mode with all fields; an empty base URL is left to the provider.
func (p *page) fillModel(t *testing.T, name, provider, baseURL, model string) {
	t.Helper()
	p.click(t, newConfig, "New Configuration")
	p.click(t, "mat-button-toggle button", "Custom Mode")
	p.fill(t, "input[formcontrolname=name]", name)
	p.choose(t, "mat-select[formcontrolname=provider]", provider)
	if baseURL != "" {
		p.fill(t, "input[formcontrolname=base_url]", baseURL)
	}
	p.fill(t, "input[formcontrolname=model]", model)
	p.fill(t, "input[formcontrolname=api_key]", modelKey)
}

// row clicks the nth button of a configuration: default, edit, delete.
func (p *page) row(t *testing.T, name string, button int) {
	t.Helper()
	at := slices.IndexFunc(p.texts(t, configRows), func(row string) bool { return strings.HasPrefix(row, name) })
	if at < 0 {
		t.Fatalf("no configuration %q", name)
	}
	p.clickNth(t, configRows+" .action-buttons button", "", 3*at+button)
}

// choose takes an option of a list.
func (p *page) choose(t *testing.T, css, text string) {
	t.Helper()
	p.click(t, css, "")
	p.click(t, option, text)
	p.await(t, "the list's end", `(css) => !document.querySelector(css)`, option)
}

// model reads a configuration by its name.
func (l *lab) model(t *testing.T, name string) schema.ModelConfig {
	t.Helper()
	var own []schema.ModelConfig
	l.must(t, http.MethodGet, l.models()+"/own", nil, &own)
	for _, c := range own {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no configuration %q in %+v", name, own)
	return schema.ModelConfig{}
}
