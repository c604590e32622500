package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

// deviceConfig is an entry of device_configs in any of the tools.
type deviceConfig struct {
	DeviceName     string   `json:"device_name"`
	Commands       []string `json:"commands"`
	ConfigCommands []string `json:"config_commands"`
}

// changes reads the entries of device_configs.
func changes(args json.RawMessage, config bool, lines func(deviceConfig) []string) ([]Change, error) {
	var parsed struct {
		DeviceConfigs []deviceConfig `json:"device_configs"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	list := make([]Change, len(parsed.DeviceConfigs))
	for i, c := range parsed.DeviceConfigs {
		list[i] = Change{Device: c.DeviceName, Lines: policy.Lines(lines(c)), Config: config}
	}
	return list, nil
}

// ByDevice puts together what goes to one device of the lab, however a call writes its name: a device is visited once, with its lines in
// the order of the request. A device that the lab hasn't keeps the call's name for it.
func ByDevice(list []Change, lab gns3.Topology) []Change {
	var each []Change
	at := map[string]int{}
	for _, c := range list {
		c.Device = strings.TrimSpace(c.Device)
		if node, err := lab.Find(c.Device); err == nil {
			c.Device, c.NodeID = node.Name, node.ID
		}
		i, known := at[c.Device]
		if !known {
			at[c.Device] = len(each)
			c.Lines = slices.Clone(c.Lines)
			each = append(each, c)
			continue
		}
		each[i].Lines = append(each[i].Lines, c.Lines...)
	}
	return each
}

// pushAll sends what a call wants of the device that it is run for.
func pushAll(ctx context.Context, env Env, tool Changer, args json.RawMessage) ([]schema.ToolItem, error) {
	if err := OwnProject(args, env.Ref.ProjectID); err != nil {
		return nil, err
	}
	list, err := tool.Changes(args)
	if err != nil {
		return nil, err
	}
	if env.Push == nil {
		return nil, schema.Errorf(schema.CodeRefused, "Nothing was sent: the call wasn't confirmed.")
	}
	var items []schema.ToolItem
	for _, c := range ByDevice(list, env.Shown) {
		if c.Device == env.Device {
			items = append(items, env.Push(ctx, c))
		}
	}
	return items, nil
}

// commandSchema is the schema of a tool that takes commands for devices under that name.
func commandSchema(field string) json.RawMessage {
	return argumentsSchema(`
		"device_configs": {
			"type": "array", "minItems": 1, "maxItems": 100,
			"items": {
				"type": "object",
				"properties": {
					"device_name": {"type": "string", "minLength": 1, "maxLength": 200},
					"`+field+`": {
						"type": "array", "minItems": 1, "maxItems": 500,
						"items": {"type": "string", "minLength": 1, "maxLength": 1000}
					}
				},
				"required": ["device_name", "`+field+`"],
				"additionalProperties": false
			}
		}`, "device_configs")
}

// spreadCommands turns device_names with commands into the entries of device_configs, their lines under that name.
func spreadCommands(args map[string]json.RawMessage, field string) error {
	if _, ok := args["device_configs"]; ok || args["device_names"] == nil {
		return nil
	}
	var names, commands []string
	lines := args["commands"]
	if lines == nil {
		lines = args[field]
	}
	if err := json.Unmarshal(args["device_names"], &names); err != nil {
		return badArguments(err)
	}
	if err := json.Unmarshal(lines, &commands); err != nil {
		return badArguments(err)
	}
	configs := make([]map[string]any, len(names))
	for i, name := range names {
		configs[i] = map[string]any{"device_name": name, field: commands}
	}
	args["device_configs"] = schema.Text(configs)
	delete(args, "device_names")
	delete(args, "commands")
	delete(args, field)
	return nil
}

// Describe words a call for operators: names and counts, no commands.
func Describe(verb string, list []Change) string {
	var names []string
	lines := 0
	for _, c := range list {
		names = append(names, c.Device)
		lines += len(c.Lines)
	}
	text := fmt.Sprintf("%s %s: %d lines", verb, strings.Join(names, ", "), lines)
	if lines == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	return schema.CutText(text, 200)
}
