package dev_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestEventsAreAsDescribed lets turns of every kind happen, and holds each event against what /openapi.json says of its type.
func TestEventsAreAsDescribed(t *testing.T) {
	u := login(t, "admin")
	shapes := eventSchemas(t, u)
	session, seen := newSession(), map[schema.EventType]bool{}
	check := func(headers ...string) {
		t.Helper()
		_, stream := u.raw(http.MethodGet, u.chatPath("/sessions/"+session+"/events"), "", true, headers...)
		for line := range strings.Lines(stream) {
			data, is := strings.CutPrefix(line, "data: ")
			if !is {
				continue
			}
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			kind := schema.EventType(value.(map[string]any)["type"].(string))
			seen[kind] = true
			shape, described := shapes[kind]
			if !described {
				t.Errorf("%s is not described", kind)
			} else if err := shape.Validate(value); err != nil {
				t.Errorf("%s: %v in %s", kind, err, data)
			}
		}
	}
	suite.model.On("describe a read", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show clock"]}]}`), text("done"))
	u.say(session, "describe a read")
	check("Last-Event-ID", "nonsense")

	suite.model.On("describe an abort", func(r *scriptmodel.Reply) { r.Say("begun"); r.Hold(nil) })
	s := u.post(session, "describe an abort")
	until(t, s, isType(schema.EventContent))
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	check()

	tries := make(chan struct{}, 1)
	suite.model.On("describe a retry", func(r *scriptmodel.Reply) {
		r.Say("half")
		select {
		case tries <- struct{}{}:
			r.Cut()
		default:
		}
	})
	u.say(session, "describe a retry")
	check()

	suite.model.On("describe a failure", func(r *scriptmodel.Reply) { r.Fail(http.StatusUnauthorized, `{"error":{"message":"no"}}`) })
	u.say(session, "describe a failure")
	check()

	propose(t, u, session, "describe a change", call(configTool, configure("R1", "interface Loopback55")), text("ok"))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	check()

	// Heartbeats, lost logins, failing providers and long conversations have tests of their own.
	for kind := range shapes {
		if !seen[kind] && !slices.Contains([]schema.EventType{schema.EventHeartbeat, schema.EventWaiting, schema.EventFailover, schema.EventTrimmed}, kind) {
			t.Errorf("no event of type %s was seen", kind)
		}
	}
}

// eventSchemas compiles what the served description says of POST …/stream's events, by type.
func eventSchemas(t *testing.T, u user) map[schema.EventType]*jsonschema.Schema {
	t.Helper()
	d := readDescription(t, u)
	shapes := map[schema.EventType]*jsonschema.Schema{}
	stream := d.at("paths", "/v3/copilot/projects/{project_id}/chat/stream", "post", "responses", "200", "content", "text/event-stream", "schema")
	for kind, ref := range d.object(stream["discriminator"])["mapping"].(map[string]any) {
		shapes[schema.EventType(kind)] = d.compile(ref.(string))
	}
	if len(shapes) == 0 {
		t.Fatal("no events are described")
	}
	return shapes
}

// description is what the server says of itself.
type description struct {
	t        *testing.T
	document map[string]any
	compiler *jsonschema.Compiler
}

// localTime is the form of sessions' times, which the description calls date-time-local.
var localTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$`)

func readDescription(t *testing.T, u user) *description {
	t.Helper()
	_, text := u.raw(http.MethodGet, "/openapi.json", "", false)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	d := &description{t: t, document: document.(map[string]any), compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	d.compiler.RegisterFormat(&jsonschema.Format{Name: "date-time-local", Validate: func(v any) error {
		if s, is := v.(string); is && !localTime.MatchString(s) {
			return fmt.Errorf("%q is not UTC in microseconds without a zone", s)
		}
		return nil
	}})
	if err := d.compiler.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *description) compile(ref string) *jsonschema.Schema {
	d.t.Helper()
	s, err := d.compiler.Compile("openapi.json" + ref)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *description) object(v any) map[string]any {
	d.t.Helper()
	o, is := v.(map[string]any)
	if !is {
		d.t.Fatalf("not an object: %v", v)
	}
	return o
}

// at is the object at the end of these steps; references are followed.
func (d *description) at(steps ...string) map[string]any {
	d.t.Helper()
	here := d.document
	for _, step := range steps {
		here = d.object(here[step])
		if ref, is := here["$ref"].(string); is {
			here = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	return here
}

// enum lists the values that a field of a component can have.
func (d *description) enum(component, field string) []string {
	d.t.Helper()
	var values []string
	for _, v := range d.at("components", "schemas", component, "properties", field)["enum"].([]any) {
		values = append(values, v.(string))
	}
	slices.Sort(values)
	return values
}

// check holds an answer against what is described of the operation.
func (d *description) check(a answer, method, path string) {
	d.t.Helper()
	where, status := fmt.Sprintf("%s %s: %d", method, path, a.status), strconv.Itoa(a.status)
	responses := d.at("paths", path, strings.ToLower(method), "responses")
	if responses[status] == nil {
		d.t.Errorf("%s is not described: %s", where, a.text)
		return
	}
	if d.at("paths", path, strings.ToLower(method), "responses", status, "headers", "X-Request-Id"); a.header.Get("X-Request-Id") == "" {
		d.t.Errorf("%s has no X-Request-Id", where)
	}
	if a.text == "" {
		return
	}
	ref, is := d.object(responses[status])["$ref"].(string)
	if !is {
		ref = "#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + strings.ToLower(method) + "/responses/" + status
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.text))
	if err != nil {
		d.t.Fatalf("%s: %v in %s", where, err, a.text)
	}
	if err := d.compile(ref + "/content/application~1json/schema").Validate(value); err != nil {
		d.t.Errorf("%s: %v in %s", where, err, a.text)
	}
}

// TestAnswersAreAsDescribed gets every operation to answer, and provokes errors of every kind; each answer must be described, to the last field.
func TestAnswersAreAsDescribed(t *testing.T) {
	u, session, toolCall := login(t, "admin"), newSession(), ""
	d, succeeded, model := readDescription(t, u), map[string]bool{}, ""
	models, group := u.models(), u.studentModels()
	ask := func(want int, method, path, body string, headers ...string) answer {
		t.Helper()
		if !strings.HasPrefix(path, "/v3") && !strings.HasSuffix(path, "z") {
			path = prefixes()[0] + path
		}
		template, query, _ := strings.Cut(path, "?")
		at := strings.NewReplacer("{project_id}", u.project, "{session_id}", session, "{tool_call_id}", toolCall,
			usersModels, models, groupsModels, group, "{config_id}", model).Replace(template)
		a := u.ask(method, at+"?"+query, body, append(u.bearer(), headers...)...)
		if a.status != want {
			t.Errorf("%s %s: %d in place of %d: %s", method, path, a.status, want, a.text)
		}
		d.check(a, method, template)
		succeeded[strings.ToLower(method)+" "+template] = succeeded[strings.ToLower(method)+" "+template] || a.status < http.StatusBadRequest
		return a
	}
	const own = "/sessions/{session_id}"

	suite.model.On("answer whole", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show clock"]}, {"device_name": "R9", "commands": ["show clock"]}]}`), text("done"))
	ask(200, http.MethodPost, "/stream", `{"message": "answer whole", "stream": false, "session_id": "`+session+`"}`)
	suite.model.On("break something", text("broken"))
	ask(200, http.MethodPost, "/inject", `{"message": "break something", "stream": false}`)
	suite.model.On("answer nothing", func(r *scriptmodel.Reply) { r.Fail(http.StatusUnauthorized, `{"error":{"message":"no"}}`) })
	ask(502, http.MethodPost, "/stream", `{"message": "answer nothing", "stream": false}`)
	for _, m := range u.history(session).Messages {
		if m.ToolCallID != nil {
			toolCall = *m.ToolCallID
		}
	}
	ask(200, http.MethodGet, own+"/tool-outputs/{tool_call_id}", "")
	ask(200, http.MethodGet, own+"/history", "")
	ask(200, http.MethodGet, "/sessions", "")
	ask(200, http.MethodPatch, own, `{"title": "Described"}`)
	ask(200, http.MethodPut, own+"/pin", "")
	ask(200, http.MethodDelete, own+"/pin", "")
	ask(200, http.MethodGet, own+"/hitl-status", "")
	_, stream := u.raw(http.MethodGet, u.chatPath("/sessions/"+session+"/events"), "", true)
	ids := regexp.MustCompile(`(?m)^id: (.*)$`).FindAllStringSubmatch(stream, -1)
	ask(204, http.MethodGet, own+"/events", "", "Last-Event-ID", ids[len(ids)-1][1])

	better := configure("R1", "interface Loopback56", "description described")
	s, asked := propose(t, u, session, "answers to decisions", call(configTool, configure("R1", "no ip routing")), call(configTool, better),
		call(configTool, better), text("ok"))
	toolCall = last(asked).PendingTools[0].ToolCallID
	ask(200, http.MethodGet, own+"/hitl-status", "")
	ask(200, http.MethodGet, "/v3/copilot/approvals", "")
	ask(409, http.MethodPost, "/stream", `{"message": "too early", "session_id": "`+session+`"}`)
	ask(400, http.MethodPost, own+"/hitl/confirm", `{}`)
	ask(409, http.MethodPost, own+"/hitl/confirm", `{"confirm_all": true, "expected_sha256": {"`+toolCall+`": "other"}}`)
	ask(422, http.MethodPost, own+"/hitl/confirm", `{"confirm_all": true, "unknown": 1}`)
	if a := ask(200, http.MethodPost, own+"/hitl/confirm", `{"confirm_all": true}`); !strings.Contains(a.text, `"pending"`) {
		t.Errorf("no second word is wanted: %s", a.text)
	}
	if a := ask(200, http.MethodGet, own+"/hitl-status", ""); strings.Contains(a.text, `"remaining":0`) || !strings.Contains(a.text, `"confirmations":1`) {
		t.Errorf("no time is left for the second word: %s", a.text)
	}
	ask(200, http.MethodPost, own+"/hitl/modify", `{"tool_call_id": "`+toolCall+`", "modified_args": `+better+`}`)
	until(t, s, isType(schema.EventHITLRequired)) // what was of high danger is asked for again
	ask(200, http.MethodPost, own+"/hitl/reject", `{"reject_all": true, "reason": "described enough"}`)
	until(t, s, isType(schema.EventHITLRequired))
	ask(200, http.MethodPost, own+"/hitl/confirm", `{"confirm_all": true}`)
	until(t, s, isType(schema.EventDone))
	ask(200, http.MethodGet, own+"/changes", "")
	ask(200, http.MethodGet, "/v3/copilot/approvals/history?project_id="+u.project, "")
	ask(200, http.MethodGet, "/v3/copilot/usage", "")
	ask(200, http.MethodPost, own+"/abort", "")
	ask(200, http.MethodPost, "/v3/copilot/reload/skills", "")

	for _, base := range []string{usersModels, groupsModels} {
		ask(404, http.MethodGet, base+"/default", "")
		made := ask(201, http.MethodPost, base, modelBody("described", `"api_key": "sk-described", "max_tokens": "100", "other": {"a": 1}, "failover": "server"`))
		model = regexp.MustCompile(`"config_id":"([^"]+)"`).FindStringSubmatch(made.text)[1]
		ask(422, http.MethodPost, base, `{"name": "described"}`)
		ask(200, http.MethodPut, base+"/{config_id}", `{"temperature": 0.5, "max_tokens": "", "copilot_mode": "teaching_assistant", "expected_version": 0}`)
		ask(409, http.MethodPut, base+"/{config_id}", `{"temperature": 0.6, "expected_version": 0}`)
		ask(200, http.MethodPut, base+"/default/{config_id}", "")
		ask(200, http.MethodPost, base+"/{config_id}/test", "")
		ask(200, http.MethodGet, base+"/default", "")
		ask(200, http.MethodGet, base, "")
		if base == usersModels {
			ask(200, http.MethodGet, base+"/own", "")
		}
		ask(200, http.MethodPost, base+"/{config_id}/test", "")
		ask(204, http.MethodDelete, base+"/{config_id}", "")
		ask(404, http.MethodDelete, base+"/{config_id}", "")
		ask(404, http.MethodPost, base+"/{config_id}/test", "")
	}

	ask(401, http.MethodGet, own+"/history", "", "Authorization", "Bearer nobody")
	ask(404, http.MethodGet, own+"/events?turn=nothing", "")
	ask(422, http.MethodGet, own+"/history?limit=0", "")
	ask(400, http.MethodPost, "/stream", `{`)
	ask(413, http.MethodPost, "/stream", `{"message": "`+strings.Repeat("x", 33<<10)+`"}`)
	ask(415, http.MethodPost, "/stream", `{"message": "x"}`, "Content-Type", "text/plain")
	ask(204, http.MethodDelete, own, "")
	ask(200, http.MethodGet, "/healthz", "")
	ask(200, http.MethodGet, "/readyz", "")
	if a := u.ask(http.MethodGet, u.chatPath("/stream"), "", u.bearer()...); a.status != http.StatusNotFound {
		t.Errorf("a wrong method is answered with %d %s", a.status, a.text)
	}

	for path, methods := range d.at("paths") {
		for method := range d.object(methods) {
			if !strings.HasPrefix(path, "/v3/projects/") && !succeeded[method+" "+path] {
				t.Errorf("no success of %s %s was held against its description", method, path)
			}
		}
	}
}

// TestDocsNeedNoInternet loads the viewer as a browser does, and everything it names from the server itself.
func TestDocsNeedNoInternet(t *testing.T) {
	u := login(t, "admin")
	status, page := u.raw(http.MethodGet, "/docs", "", false)
	if status != http.StatusOK || !strings.Contains(page, "/openapi.json") {
		t.Fatalf("%d %s", status, page)
	}
	assets := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(assets) == 0 {
		t.Fatal("the page loads nothing")
	}
	for _, a := range assets {
		if !strings.HasPrefix(a[1], "/docs/") {
			t.Errorf("the page loads %s", a[1])
			continue
		}
		if status, body := u.raw(http.MethodGet, a[1], "", false); status != http.StatusOK || body == "" {
			t.Errorf("%s: %d", a[1], status)
		}
	}
}
