package dev_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
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

	// Heartbeats and lost logins have tests of their own.
	for kind := range shapes {
		if !seen[kind] && !slices.Contains([]schema.EventType{schema.EventHeartbeat, schema.EventWaiting}, kind) {
			t.Errorf("no event of type %s was seen", kind)
		}
	}
}

// eventSchemas compiles what the served description says of POST …/stream's events, by type.
func eventSchemas(t *testing.T, u user) map[schema.EventType]*jsonschema.Schema {
	t.Helper()
	_, text := u.raw(http.MethodGet, "/openapi.json", "", false)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Discriminator struct{ Mapping map[schema.EventType]string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &described); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	shapes := map[schema.EventType]*jsonschema.Schema{}
	operation := described.Paths["/v3/copilot/projects/{project_id}/chat/stream"]["post"]
	for kind, ref := range operation.Responses["200"].Content["text/event-stream"].Schema.Discriminator.Mapping {
		if shapes[kind], err = compiler.Compile("openapi.json" + ref); err != nil {
			t.Fatal(err)
		}
	}
	if len(shapes) == 0 {
		t.Fatal("no events are described")
	}
	return shapes
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
