package dev_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

func goldenModels() []goldenFile {
	return []goldenFile{
		{"endpoints/models.txt", "GET /v3/access/users|groups/{id}/llm-model-configs: what a user may use, and what a group has.", goldenModelsFile},
		{"endpoints/models-own.txt", "GET /v3/access/users/{id}/llm-model-configs/own: a user's own, without those of groups.", goldenModelsOwnFile},
		{"endpoints/models-default.txt", "GET /v3/access/users|groups/{id}/llm-model-configs/default: the one that is marked as the default.", goldenModelsDefaultFile},
		{"endpoints/models-create.txt", "POST /v3/access/users|groups/{id}/llm-model-configs: a new model configuration.", goldenModelsCreateFile},
		{"endpoints/models-update.txt", "PUT /v3/access/users|groups/{id}/llm-model-configs/{config_id}: another version of it.", goldenModelsUpdateFile},
		{"endpoints/models-choose.txt", "PUT /v3/access/users|groups/{id}/llm-model-configs/default/{config_id}: another default.", goldenModelsChooseFile},
		{"endpoints/models-test.txt", "POST /v3/access/users|groups/{id}/llm-model-configs/{config_id}/test: one short call, and a verdict.", goldenModelsTestFile},
		{"endpoints/models-delete.txt", "DELETE /v3/access/users|groups/{id}/llm-model-configs/{config_id}.", goldenModelsDeleteFile},
	}
}

// modelBody is a request for a configuration with these other fields.
func modelBody(name string, fields ...string) string {
	return `{"name": "` + name + `", "model_type": "text", "provider": "custom", "base_url": "` + suite.model.BaseURL() + `", "model": "scripted", "context_limit": 128` +
		strings.Join(append([]string{""}, fields...), ", ") + `}`
}

// goldenModelBody is one whose address is the same in each run.
func goldenModelBody(name string, fields ...string) string {
	return strings.Replace(modelBody(name, fields...), suite.model.BaseURL(), "https://models.example/v1", 1)
}

// studentModels is where the configurations of the students' group are. The administrator finds it.
func (u user) studentModels() string {
	u.t.Helper()
	_, text := u.raw(http.MethodGet, "/v3/access/groups", "", true)
	return "/v3/access/groups/" + groupID(u, text) + "/llm-model-configs"
}

func groupID(u user, text string) string {
	u.t.Helper()
	var groups []schema.Group
	if err := json.Unmarshal([]byte(text), &groups); err != nil {
		u.t.Fatal(err)
	}
	for _, g := range groups {
		if g.Name == simlab.StudentsGroup {
			return g.ID
		}
	}
	u.t.Fatalf("no group of students in %s", text)
	return ""
}

// model makes a configuration beside the file and gives its id.
func (g *golden) model(path, body string) string {
	g.t.Helper()
	var made schema.ModelConfig
	g.rest(http.MethodPost, path, body, &made)
	return made.ConfigID
}

// modelWorld is a student's place and that of the students' group, seen by both and the administrator.
type modelWorld struct {
	*golden // the student
	admin   *golden
	own     string
	group   string
}

func (g *golden) modelWorld() (w modelWorld, end func()) {
	g.t.Helper()
	w = modelWorld{golden: g.by("student"), admin: g}
	var groups json.RawMessage
	g.rest(http.MethodGet, "/v3/access/groups", "", &groups)
	w.own, w.group = modelsOf(w.id), "/v3/access/groups/"+groupID(g.user, string(groups))+"/llm-model-configs"
	return w, func() { g.clearModels(w.w.stack, w.own, w.group) }
}

// strangers shows what a user without the privilege is told.
func (w modelWorld) strangers(method, tail, body string) {
	w.t.Helper()
	w.show("Of another user, without the privilege", method, modelsOf(w.admin.id)+tail, body)
	if tail != "/own" {
		w.show("Of a group, without the privilege", method, w.group+tail, body)
	}
	w.admin.show("Of a user who isn't there", method, modelsOf(nowhere)+tail, body)
	w.show("With something that is no user's id", method, modelsOf("undefined")+tail, body)
}

func goldenModelsFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	w.show("Without any", http.MethodGet, w.own, "")
	w.model(w.own, goldenModelBody("first"))
	w.model(w.own, goldenModelBody("second", `"copilot_mode": "teaching_assistant"`))
	w.admin.model(w.group, goldenModelBody("shared", `"is_default": true, "api_key": "sk-the-groups"`))
	w.show("One's own, then those of one's groups. No own one is the default, so the group's is", http.MethodGet, w.own, "")
	w.admin.show("The same, as an administrator sees it", http.MethodGet, w.own, "")
	w.admin.show("A group's", http.MethodGet, w.group, "")
	w.strangers(http.MethodGet, "", "")
}

func goldenModelsOwnFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	w.show("Without any", http.MethodGet, w.own+"/own", "")
	w.model(w.own, goldenModelBody("first", `"api_key": "sk-mine"`))
	w.admin.model(w.group, goldenModelBody("shared"))
	w.show("One", http.MethodGet, w.own+"/own", "")
	w.strangers(http.MethodGet, "/own", "")
}

func goldenModelsDefaultFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	w.model(w.own, goldenModelBody("first"))
	w.show("Without one", http.MethodGet, w.own+"/default", "")
	w.admin.show("Without one of the group", http.MethodGet, w.group+"/default", "")
	w.model(w.own, goldenModelBody("second", `"is_default": true`))
	w.admin.model(w.group, goldenModelBody("shared", `"is_default": true`))
	w.show("One's own", http.MethodGet, w.own+"/default", "")
	w.admin.show("A group's", http.MethodGet, w.group+"/default", "")
	w.strangers(http.MethodGet, "/default", "")
}

func goldenModelsCreateFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	w.show("What is needed", http.MethodPost, w.own, goldenModelBody("first"))
	w.show("All fields, and some that aren't known, which are kept", http.MethodPost, w.own, `{"name": "second", "model_type": "multimodal", "is_default": true, "provider": "openai",
  "base_url": "https://models.example/v1", "model": "gpt", "temperature": 0, "api_key": "sk-mine", "max_tokens": 4096, "context_limit": 200,
  "context_strategy": "aggressive", "copilot_mode": "lab_automation_assistant", "failover": ["server"], "top_p": 0.5, "owner": {"team": "labs"}}`)
	w.show("Fields without a value: null is as if absent", http.MethodPost, w.own, goldenModelBody("third", `"api_key": null, "max_tokens": null, "copilot_mode": null, "is_default": null, "extra": null`))
	w.admin.show("For a group", http.MethodPost, w.group, goldenModelBody("shared"))
	for _, c := range []struct{ title, body string }{
		{"No JSON", `{"name": "first"`},
		{"Nothing", `{}`},
		{"Several faults", `{"name": "", "model_type": "speech", "provider": "", "base_url": 1, "model": "m", "temperature": 3, "context_limit": 0, "context_strategy": "all"}`},
		{"A context in tokens in place of thousands", strings.Replace(goldenModelBody("first"), "128", "128000", 1)},
		{"An address with a key in it, a key with a line break, a mode that isn't known, no tokens", strings.Replace(goldenModelBody("first", `"api_key": "a\nb", "copilot_mode": "root", "max_tokens": 0`), "v1", "v1?key=x", 1)},
		{"A failover to something that can't be used", goldenModelBody("first", `"failover": ["`+nowhere+`"]`)},
	} {
		w.show(c.title, http.MethodPost, w.own, c.body)
	}
	w.strangers(http.MethodPost, "", goldenModelBody("first"))
}

func goldenModelsUpdateFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	own := w.own + "/" + w.model(w.own, goldenModelBody("first", `"api_key": "sk-mine", "max_tokens": 100, "extra": 1`))
	shared := w.group + "/" + w.admin.model(w.group, goldenModelBody("shared"))
	w.show("Some fields: the others stay, the key too", http.MethodPut, own, `{"name": "renamed", "temperature": 1, "max_tokens": "4096", "more": true, "expected_version": 0}`)
	w.show("What is null stays; GNS3's clients take a bound away in words", http.MethodPut, own, `{"model": null, "api_key": null, "max_tokens": "null", "extra": null}`)
	w.show("Another host: the key isn't for it", http.MethodPut, own, `{"base_url": "https://other.example/v1"}`)
	w.show("With a key for it", http.MethodPut, own, `{"base_url": "https://third.example/v1", "api_key": "sk-third"}`)
	w.show("Without a key from now on, and without a mode", http.MethodPut, own, `{"api_key": "", "copilot_mode": ""}`)
	w.show("A change of an older version", http.MethodPut, own, `{"name": "late", "expected_version": 1}`)
	w.show("A mode that isn't known", http.MethodPut, own, `{"copilot_mode": "root"}`)
	w.admin.show("A group's", http.MethodPut, shared, `{"name": "ours", "is_default": true}`)
	w.show("One that isn't there", http.MethodPut, w.own+"/"+nowhere, `{"name": "renamed"}`)
	w.show("A group's as one's own", http.MethodPut, w.own+strings.TrimPrefix(shared, w.group), `{"name": "renamed"}`)
	w.show("With something that is no configuration's id", http.MethodPut, w.own+"/undefined", `{"name": "renamed"}`)
	w.strangers(http.MethodPut, "/"+nowhere, `{"name": "renamed"}`)
}

func goldenModelsChooseFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	w.model(w.own, goldenModelBody("first", `"is_default": true`))
	second := w.model(w.own, goldenModelBody("second"))
	shared := w.admin.model(w.group, goldenModelBody("shared"))
	w.show("In place of another one", http.MethodPut, w.own+"/default/"+second, "")
	w.show("Both afterwards", http.MethodGet, w.own+"/own", "")
	w.admin.show("A group's", http.MethodPut, w.group+"/default/"+shared, "")
	w.show("One that isn't there", http.MethodPut, w.own+"/default/"+nowhere, "")
	w.show("A group's as one's own", http.MethodPut, w.own+"/default/"+shared, "")
	w.strangers(http.MethodPut, "/default/"+nowhere, "")
}

func goldenModelsTestFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	suite.model.On("Are you ready?", call("report_ready", `{"status": "ready"}`))
	good := w.model(w.own, modelBody("in order"))
	w.show("A model that is in order", http.MethodPost, w.own+"/"+good+"/test", "")
	suite.model.On("Are you ready?", refuses)
	w.show("A key that is refused", http.MethodPost, w.own+"/"+good+"/test", "")
	shared := w.admin.model(w.group, modelBody("shared"))
	w.admin.show("A group's", http.MethodPost, w.group+"/"+shared+"/test", "")
	w.show("One that isn't there", http.MethodPost, w.own+"/"+nowhere+"/test", "")
	w.strangers(http.MethodPost, "/"+nowhere+"/test", "")
}

func goldenModelsDeleteFile(g *golden) {
	w, end := g.modelWorld()
	defer end()
	own, shared := w.model(w.own, goldenModelBody("first")), w.admin.model(w.group, goldenModelBody("shared"))
	w.show("One's own", http.MethodDelete, w.own+"/"+own, "")
	w.show("Once more", http.MethodDelete, w.own+"/"+own, "")
	w.show("A group's as one's own", http.MethodDelete, w.own+"/"+shared, "")
	w.admin.show("A group's", http.MethodDelete, w.group+"/"+shared, "")
	w.strangers(http.MethodDelete, "/"+nowhere, "")
}
