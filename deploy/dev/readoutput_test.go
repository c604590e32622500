package dev_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// reads is a step that calls read_tool_output with what arguments makes of the newest result.
func reads(t *testing.T, arguments func(newest schema.ToolResponse) string) scriptmodel.Step {
	return func(r *scriptmodel.Reply) {
		var newest schema.ToolResponse
		content := r.Request.Messages[len(r.Request.Messages)-1].Content
		if err := json.Unmarshal([]byte(content), &newest); err != nil {
			t.Errorf("%v in %.200s", err, content)
		}
		r.Call(schema.ToolReadOutput, arguments(newest))
	}
}

// resultsOf gives the results of all calls.
func resultsOf(t *testing.T, events []client.Received) []schema.ToolResponse {
	t.Helper()
	var list []schema.ToolResponse
	for i, ev := range events {
		if ev.Type == schema.EventToolEnd {
			list = append(list, toolResult(t, events[i:]))
		}
	}
	return list
}

var callID = regexp.MustCompile(`call_[0-9a-f]{24}`)

// TestReadToolOutput: what is left out of a result is one call away in every mode, for the model of its own session alone.
func TestReadToolOutput(t *testing.T) {
	const lines, needle = 5_000, 2_345
	var noise strings.Builder
	for i := range lines {
		fmt.Fprintf(&noise, "%04d the quick brown fox jumps over\r\n", i)
	}
	if err := suite.lab.SetFault("R2", simlab.Fault{Noise: noise.String()}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := suite.lab.SetFault("R2", simlab.Fault{}); err != nil {
			t.Error(err)
		}
	}()
	u := login(t, "admin")
	id := ""
	for _, mode := range []schema.Mode{schema.ModeTeaching, schema.ModeAutomation, schema.ModeInjection} {
		t.Run(string(mode), func(t *testing.T) {
			u.t = t
			message := "read it all, " + string(mode)
			suite.model.On(message,
				call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["show clock"]}]}`),
				reads(t, func(newest schema.ToolResponse) string {
					whole, _ := newest.Metadata.Extra["whole"].(string)
					id = callID.FindString(whole)
					return fmt.Sprintf(`{"id": %q, "search": "%04d THE quick"}`, id, needle)
				}),
				reads(t, func(newest schema.ToolResponse) string {
					if newest.Total != 1 {
						return "{}"
					}
					at := regexp.MustCompile(fmt.Sprintf(`(?m)^(\d+): %04d`, needle)).FindStringSubmatch(newest.Data[0].Result)
					if at == nil {
						t.Errorf("not found: %s", newest.Data[0].Result)
						return "{}"
					}
					return fmt.Sprintf(`{"id": %q, "from": %s, "length": 4}`, id, at[1])
				}),
				text("done"))
			var events []client.Received
			err := u.Turn(u.bounded(), u.project, schema.ChatRequest{Message: message, SessionID: newSession(), CopilotMode: mode}, "", func(ev client.Received) error {
				events = append(events, ev)
				return nil
			}, nil)
			results := resultsOf(t, events)
			if err != nil || len(results) != 3 || last(events).StopReason != schema.StopComplete {
				t.Fatalf("%v %s", err, types(events))
			}
			if r := results[0]; !r.Success || !strings.Contains(r.Data[0].Result, "bytes left out") || strings.Contains(r.Data[0].Result, fmt.Sprintf("\n%04d", needle)) {
				t.Errorf("the result isn't cut: %d bytes", len(r.Data[0].Result))
			}
			if r := results[2]; !r.Success || !strings.HasSuffix(r.Data[0].Result, fmt.Sprintf("]\n%04d", needle)) {
				t.Errorf("%+v", r)
			}
		})
	}
	suite.model.On("read another's", call(schema.ToolReadOutput, fmt.Sprintf(`{"id": %q}`, id)), text("done"))
	for _, name := range []string{"admin", "student"} {
		t.Run("another session, "+name, func(t *testing.T) {
			u := login(t, name)
			r := toolResult(t, u.say(newSession(), "read another's"))
			if r.Success || r.Total != 0 || !strings.Contains(r.Error, id) || r.Metadata.Error.Code != schema.ToolValidation {
				t.Errorf("%+v", r)
			}
		})
	}
}
