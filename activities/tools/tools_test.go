package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

func registry(t *testing.T) *Registry {
	t.Helper()
	r := NewRegistry()
	for _, err := range []error{
		r.Add(TopologyReader{}, schema.ModeTeaching, schema.ModeAutomation),
		r.Add(DeviceCommands{}, schema.ModeTeaching, schema.ModeAutomation),
		r.Add(DeviceConfig{}, schema.ModeAutomation),
		r.Add(VPCSCommands{}, schema.ModeAutomation),
		r.Add(OutputReader{}, schema.ModeTeaching, schema.ModeAutomation),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if r.Add(DeviceConfig{}) == nil {
		t.Fatal("a name can be taken twice")
	}
	return r
}

// TestArgumentForms: all that models and clients write for the same call comes out as one form, with one hash.
func TestArgumentForms(t *testing.T) {
	const want = `{"device_configs":[{"device_name":"R1","commands":["show version"]}]}`
	forms := []string{
		want,
		`{"device_configs": [{"commands": ["show version"], "device_name": "R1"}]}`,
		`{"tool_input": {"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}}`,
		`{"tool_input": "{\"device_configs\": [{\"device_name\": \"R1\", \"commands\": [\"show version\"]}]}"}`,
		`{"tool_input": "[{\"device_name\": \"R1\", \"commands\": [\"show version\"]}]"}`,
		`{"tool_input": [{"device_name": "R1", "commands": ["show version"]}]}`,
	}
	for _, form := range forms {
		_, args, err := registry(t).Resolve(DeviceCommandsName, form, schema.ModeAutomation)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		var got, expected any
		if json.Unmarshal(args, &got) != nil || json.Unmarshal([]byte(want), &expected) != nil || string(schema.Text(got)) != string(schema.Text(expected)) {
			t.Errorf("%s became %s", form, args)
		}
		if HashArguments(form) != HashArguments(want) {
			t.Errorf("%s has another hash", form)
		}
	}
	_, args, err := registry(t).Resolve(DeviceCommandsName, `{"device_names": ["R1", "R2"], "commands": ["show version"]}`, schema.ModeAutomation)
	if err != nil || strings.Count(string(args), "show version") != 2 {
		t.Errorf("%s %v", args, err)
	}
}

func TestArgumentsThatAreRefused(t *testing.T) {
	for form, want := range map[string]schema.Code{
		``:                         schema.CodeToolArguments, // no arguments, but one is required
		`null`:                     schema.CodeToolArguments,
		`[`:                        schema.CodeToolArguments,
		`"text"`:                   schema.CodeToolArguments,
		`{"a":1}{"b":2}`:           schema.CodeToolArguments,
		`{"tool_input": "["}`:      schema.CodeToolArguments,
		`{"tool_input": "[]x"}`:    schema.CodeToolArguments,
		`{"tool_input": "{"}`:      schema.CodeToolArguments,
		`{"tool_input": 7}`:        schema.CodeToolArguments,
		`{"device_configs": []}`:   schema.CodeToolArguments,
		`{"device_configs": "R1"}`: schema.CodeToolArguments,
		`{"device_configs": [{"device_name": "R1", "commands": [7]}]}`:           schema.CodeToolArguments,
		`{"device_configs": [{"device_name": "R1", "commands": []}]}`:            schema.CodeToolArguments,
		`{"device_configs": [{"device_name": "R1", "commands": ["x"], "y": 1}]}`: schema.CodeToolArguments,
	} {
		if _, _, err := registry(t).Resolve(DeviceCommandsName, form, schema.ModeAutomation); schema.CodeOf(err) != want {
			t.Errorf("%s: %v", form, err)
		}
		if len(HashArguments(form)) != 64 {
			t.Errorf("%s has no hash", form)
		}
	}
	_, _, err := registry(t).Resolve("nosuchtool", `{}`, schema.ModeTeaching)
	if schema.CodeOf(err) != schema.CodeToolUnknown || !strings.Contains(schema.AsError(err).Hint, DeviceCommandsName) {
		t.Errorf("%v", err)
	}
	_, _, err = registry(t).Resolve("execute_vpcs_commands", `{}`, schema.ModeTeaching)
	if schema.CodeOf(err) != schema.CodeRefused {
		t.Errorf("a tool of another mode: %v", err)
	}
}

// TestChangesVisitADeviceOnce: entries of one device come together in their order, however its name is written, and strings of several
// lines become lines.
func TestChangesVisitADeviceOnce(t *testing.T) {
	list, err := DeviceConfig{}.Changes(json.RawMessage(`{"device_configs": [
		{"device_name": "R1", "config_commands": ["interface Loopback0\ndescription a\r\n\n"]},
		{"device_name": "R2", "config_commands": ["hostname R2"]},
		{"device_name": " r1", "config_commands": ["exit"]},
		{"device_name": "R9", "config_commands": ["a"]},
		{"device_name": "R9 ", "config_commands": ["b"]}]}`))
	lab := gns3.Topology{Nodes: map[string]gns3.Node{"R1": {Name: "R1", ID: "one"}, "r2": {Name: "r2", ID: "two"}}}
	list = ByDevice(list, lab)
	if len(list) == 3 && (list[1].Device != "r2" || list[1].NodeID != "two" || list[2].Device != "R9" || list[2].NodeID != "" || len(list[2].Lines) != 2) {
		t.Errorf("%+v", list)
	}
	if err != nil || len(list) != 3 || list[0].Device != "R1" || list[0].NodeID != "one" || strings.Join(list[0].Lines, "|") != "interface Loopback0|description a|exit" || !list[0].Config {
		t.Fatalf("%+v %v", list, err)
	}
}

func TestModified(t *testing.T) {
	const original = `{"device_configs":[{"device_name":"R1","config_commands":["interface gig0/0","ip address 10.0.0.1 255.255.255.0"]}]}`
	args, sha, summary, err := registry(t).Modified("execute_multiple_device_config_commands", original,
		[]byte(`{"tool_input": {"device_configs": [{"device_name": "R1", "config_commands": ["interface gig0/0", "ip address 192.168.1.1 255.255.255.0", "no shutdown"]}]}}`),
		schema.ModeAutomation)
	if err != nil {
		t.Fatal(err)
	}
	const want = "  - R1: ip address 10.0.0.1 255.255.255.0\n  + R1: ip address 192.168.1.1 255.255.255.0\n  + R1: no shutdown"
	if summary != want || sha != HashArguments(args) || strings.Contains(args, "tool_input") {
		t.Errorf("%q\n%s %s", summary, sha, args)
	}
	_, _, same, err := registry(t).Modified("execute_multiple_device_config_commands", original, []byte(original), schema.ModeAutomation)
	if err != nil || same != "No change" {
		t.Errorf("%q %v", same, err)
	}
}

func TestEveryToolDescribesItself(t *testing.T) {
	names := map[string]bool{}
	for _, tool := range registry(t).Definitions(schema.ModeAutomation) {
		m := tool.Metadata()
		if m.Name == "" || m.Description == "" || m.Version == "" || m.Category == "" || !json.Valid(tool.Schema()) || names[m.Name] {
			t.Errorf("%+v", m)
		}
		names[m.Name] = true
	}
	if len(names) != 5 {
		t.Errorf("%v", names)
	}
}
