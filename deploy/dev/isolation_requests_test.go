package dev_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gns3copilot/schema"
)

// operation is one of the server's, as its description has it, with what the test knows of it.
type operation struct {
	recipe
	method, path string
	tail         string // the path behind …/chat, or all of it
	params       []param
	ids          []string // of params and body: what names something, beside project and session
	session      bool     // whether a request names a session
}

type param struct {
	Name string `json:"name"`
	In   string `json:"in"`
}

// recipe is what can't be told from the description: a valid body, and what the caller's own session must be for a success.
type recipe struct {
	// body makes one from the values that the request has; what isn't among them is left out.
	body func(v map[string]string) map[string]any
	// fields are all that the body can have.
	fields string
	// own is the kind of session that a caller's own request needs.
	own sessionKind
	// spends says that a success uses the session up.
	spends bool
}

// recipes are the operations' by method and tail. A new operation must be added here.
func recipes() map[string]recipe {
	begin := recipe{own: plain, fields: "copilot_mode max_tokens message mode model_config_id session_id stream temperature", body: func(v map[string]string) map[string]any {
		body := map[string]any{"message": "hello", "session_id": v["session_id"]}
		if id := v["model_config_id"]; id != "" {
			body["model_config_id"] = id
		}
		return body
	}}
	inject := begin
	inject.fields = strings.TrimPrefix(begin.fields, "copilot_mode ")
	word := func(all string) recipe {
		fields := map[string]string{"confirm_all": "second_confirmation", "reject_all": "reason"}[all]
		return recipe{own: waiting, spends: true, fields: "expected_sha256 hitl_session_id tool_call_ids " + all + " " + fields,
			body: func(v map[string]string) map[string]any {
				body := map[string]any{all: v["tool_call_id"] == ""}
				if id := v["tool_call_id"]; id != "" {
					body["tool_call_ids"] = []string{id}
				}
				if id := v["hitl_session_id"]; id != "" {
					body["hitl_session_id"] = id
				}
				return body
			}}
	}
	modify := recipe{own: waiting, spends: true, fields: "expected_sha256 hitl_session_id modified_args tool_call_id", body: func(v map[string]string) map[string]any {
		var args any
		if err := json.Unmarshal([]byte(configure("R2", "interface Loopback49")), &args); err != nil {
			panic(err)
		}
		body := map[string]any{"tool_call_id": v["tool_call_id"], "modified_args": args}
		if id := v["hitl_session_id"]; id != "" {
			body["hitl_session_id"] = id
		}
		return body
	}}
	rename := recipe{own: plain, fields: "title", body: func(map[string]string) map[string]any { return map[string]any{"title": "renamed"} }}
	read, change := recipe{own: quiet}, recipe{own: plain}
	all := map[string]recipe{
		"POST /stream": begin, "POST /inject": inject, "GET /sessions": read,
		"PATCH /sessions/{session_id}": rename, "DELETE /sessions/{session_id}": {own: plain, spends: true},
		"PUT /sessions/{session_id}/pin": change, "DELETE /sessions/{session_id}/pin": change,
		"GET /sessions/{session_id}/history": read, "GET /sessions/{session_id}/events": read, "POST /sessions/{session_id}/abort": change,
		"GET /sessions/{session_id}/hitl-status": read, "POST /sessions/{session_id}/hitl/confirm": word("confirm_all"),
		"POST /sessions/{session_id}/hitl/reject": word("reject_all"), "POST /sessions/{session_id}/hitl/modify": modify,
		"GET /sessions/{session_id}/changes": read, "GET /sessions/{session_id}/tool-outputs/{tool_call_id}": read,
		"GET /v3/copilot/approvals": {}, "GET /v3/copilot/approvals/history": {}, "GET /v3/copilot/usage": {own: quiet},
	}
	maps.Copy(all, modelRecipes())
	return all
}

// modelRecipes are those of model configurations, of users and of groups.
func modelRecipes() map[string]recipe {
	const fields = "api_key base_url context_limit context_strategy copilot_mode is_default max_tokens model model_type name provider temperature"
	all := map[string]recipe{}
	for _, base := range []string{usersModels, groupsModels} {
		all["GET "+base], all["GET "+base+"/default"], all["PUT "+base+"/default/{config_id}"] = recipe{}, recipe{}, recipe{}
		all["DELETE "+base+"/{config_id}"], all["POST "+base+"/{config_id}/test"] = recipe{}, recipe{}
		all["POST "+base] = recipe{fields: fields, body: func(map[string]string) map[string]any {
			var body map[string]any
			if err := json.Unmarshal([]byte(modelBody("made")), &body); err != nil {
				panic(err)
			}
			return body
		}}
		all["PUT "+base+"/{config_id}"] = recipe{fields: fields + " expected_version", body: func(map[string]string) map[string]any {
			return map[string]any{"name": "renamed"}
		}}
	}
	all["GET "+usersModels+"/own"] = recipe{}
	return all
}

// Where model configurations are.
const (
	usersModels  = "/v3/access/users/{user_id}/llm-model-configs"
	groupsModels = "/v3/access/groups/{group_id}/llm-model-configs"
)

// ofModels tells whether the operation is about model configurations.
func (op operation) ofModels() bool { return strings.Contains(op.path, "/llm-model-configs") }

// ofGroup tells whether it is about a group's.
func (op operation) ofGroup() bool { return strings.HasPrefix(op.path, groupsModels) }

// prefixes are where the chat API lives.
func prefixes() []string {
	return []string{"/v3/copilot/projects/{project_id}/chat", "/v3/projects/{project_id}/chat"}
}

// operations reads the running server's description. An operation, a parameter or a field that the test doesn't know fails it.
func (w *world) operations() []operation {
	w.t.Helper()
	var description struct {
		Paths map[string]map[string]struct {
			Parameters  []param `json:"parameters"`
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref        string                     `json:"$ref"`
						Properties map[string]json.RawMessage `json:"properties"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(w.ask(w.boss, http.MethodGet, "/openapi.json", nil, "").body), &description); err != nil {
		w.t.Fatal(err)
	}
	known := recipes()
	var all []operation
	for path, methods := range description.Paths {
		if slices.Contains([]string{"/healthz", "/readyz", "/v3/copilot/reload/skills"}, path) { // they know no callers, or administrators alone
			continue
		}
		for method, described := range methods {
			op := operation{method: strings.ToUpper(method), path: path, tail: path, params: described.Parameters}
			for _, prefix := range prefixes() {
				op.tail = strings.TrimPrefix(op.tail, prefix)
			}
			var ok bool
			if op.recipe, ok = known[op.method+" "+op.tail]; !ok {
				w.t.Errorf("%s %s is new: add to recipes what a valid request to it is", op.method, path)
			}
			op.session = strings.Contains(path, "{session_id}")
			for _, p := range op.params {
				op.learn(w.t, p.Name)
			}
			for _, content := range described.RequestBody.Content {
				fields := content.Schema.Properties
				if _, name, ok := strings.Cut(content.Schema.Ref, "#/components/schemas/"); ok {
					fields = description.Components.Schemas[name].Properties
				}
				for name := range fields {
					if !slices.Contains(strings.Fields(op.fields), name) {
						w.t.Errorf("%s %s has a new field %s: add it to recipes", op.method, path, name)
					}
					if name == "session_id" || strings.HasSuffix(strings.TrimSuffix(name, "s"), "_id") {
						op.learn(w.t, strings.TrimSuffix(name, "s"))
					}
				}
			}
			slices.Sort(op.ids)
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

// learn notes a name that a request can have.
func (op *operation) learn(t *testing.T, name string) {
	switch name {
	case "session_id":
		op.session = true
	case "project_id", "limit", "days", "copilot_mode", "Accept-Language":
	case "tool_call_id", "hitl_session_id", "turn", "Last-Event-ID", "Idempotency-Key", "user_id", "group_id", "config_id", "model_config_id":
		op.ids = append(op.ids, name)
	default:
		t.Errorf("%s %s has a new parameter %s: add it to the matrix", op.method, op.path, name)
	}
}

// required tells whether a request can't be without the id.
func (op operation) required(id string) bool {
	return strings.Contains(op.path, "{"+id+"}") || strings.HasSuffix(op.path, "/hitl/modify") && id == "tool_call_id"
}

// send makes the request with these values.
func (w *world) send(p *person, op operation, v map[string]string) reply {
	w.t.Helper()
	path, query, header := op.path, url.Values{}, http.Header{}
	for _, param := range op.params {
		value, ok := v[param.Name]
		switch {
		case !ok:
		case param.In == "path":
			path = strings.ReplaceAll(path, "{"+param.Name+"}", url.PathEscape(value))
		case param.In == "query":
			query.Set(param.Name, value)
		default:
			header[param.Name] = []string{value}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	body := ""
	if op.body != nil {
		body = string(schema.Text(op.body(v)))
	}
	return w.ask(p, op.method, path, header, body)
}
