package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"gns3copilot/activities/console"
	"gns3copilot/activities/gns3"
	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

//go:embed commands.md
var commandsText string

// Consoles runs commands on a device's console, one after the other, and reports each one's output.
type Consoles interface {
	Run(ctx context.Context, t console.Target, commands []string, progress console.Progress) (console.Report, error)
}

// DeviceCommands runs reading commands on several devices side by side.
type DeviceCommands struct{ Consoles Consoles }

var (
	_ Tool       = DeviceCommands{}
	_ Planner    = DeviceCommands{}
	_ Normalizer = DeviceCommands{}
)

// DeviceCommandsName is the tool's name for the model and for clients.
const DeviceCommandsName = "execute_multiple_device_commands"

type deviceCommands struct {
	DeviceName string   `json:"device_name"`
	Commands   []string `json:"commands"`
}

// Metadata describes the tool.
func (DeviceCommands) Metadata() Metadata {
	return Metadata{
		Name: DeviceCommandsName, Description: commandsText, Version: "1.0.0",
		Category: CategoryDevice, Author: "GNS3 Copilot",
	}
}

// Schema describes the arguments.
func (DeviceCommands) Schema() json.RawMessage {
	return json.RawMessage(`{
		"type": "object",
		"properties": {
			"project_id": {"type": "string", "description": "May be left out: it is always the current project."},
			"device_configs": {
				"type": "array", "minItems": 1, "maxItems": 100,
				"items": {
					"type": "object",
					"properties": {
						"device_name": {"type": "string", "minLength": 1, "maxLength": 200},
						"commands": {
							"type": "array", "minItems": 1, "maxItems": 50,
							"items": {"type": "string", "minLength": 1, "maxLength": 1000}
						}
					},
					"required": ["device_name", "commands"],
					"additionalProperties": false
				}
			}
		},
		"required": ["device_configs"],
		"additionalProperties": false
	}`)
}

// Normalize also accepts device_names with commands, the form in the chat API's examples.
func (DeviceCommands) Normalize(args map[string]json.RawMessage) error {
	if _, ok := args["device_configs"]; ok || args["device_names"] == nil {
		return nil
	}
	var names, commands []string
	if err := json.Unmarshal(args["device_names"], &names); err != nil {
		return badArguments(err)
	}
	if err := json.Unmarshal(args["commands"], &commands); err != nil {
		return badArguments(err)
	}
	configs := make([]deviceCommands, len(names))
	for i, name := range names {
		configs[i] = deviceCommands{DeviceName: name, Commands: commands}
	}
	args["device_configs"] = schema.Text(configs)
	delete(args, "device_names")
	delete(args, "commands")
	return nil
}

// Plan refuses a call that has anything but reading commands.
func (DeviceCommands) Plan(args json.RawMessage) (string, error) {
	configs, err := deviceConfigs(args)
	if err != nil {
		return "", err
	}
	var names, reasons []string
	commands := 0
	for _, c := range configs {
		names = append(names, c.DeviceName)
		commands += len(c.Commands)
		for _, command := range c.Commands {
			if err := policy.Reading(command); err != nil {
				reasons = append(reasons, c.DeviceName+": "+schema.AsError(err).Message)
			}
		}
	}
	if reasons != nil {
		return "", schema.Errorf(schema.CodeRefused, "Nothing was sent to any device. %s.", strings.Join(reasons, "; ")).
			WithHint("This tool sends reading commands only. Changing a device isn't possible yet: tell the user what to type instead.")
	}
	return schema.CutText(fmt.Sprintf("Read %s: %s", strings.Join(names, ", "), counted(commands, "command")), 200), nil
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func deviceConfigs(args json.RawMessage) ([]deviceCommands, error) {
	var parsed struct {
		DeviceConfigs []deviceCommands `json:"device_configs"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	return parsed.DeviceConfigs, nil
}

// Execute runs each device's commands on its console, the devices side by side, and gives an item for each entry of the request
// in its order. A device's failure is its item's, not the call's.
func (d DeviceCommands) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	if err := ownProject(args, env.Ref.ProjectID); err != nil {
		return nil, err
	}
	configs, err := deviceConfigs(args)
	if err != nil {
		return nil, err
	}
	topology, err := env.Topology(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]schema.ToolItem, len(configs))
	var wg sync.WaitGroup
	for i, c := range configs {
		wg.Go(func() { items[i] = d.runDevice(ctx, env, topology, c) })
	}
	wg.Wait()
	return items, nil
}

func (d DeviceCommands) runDevice(ctx context.Context, env Env, topology gns3.Topology, c deviceCommands) schema.ToolItem {
	total := len(c.Commands)
	tell := func(state schema.DeviceState, done int, detail string) {
		env.Progress(schema.DeviceProgress{DeviceName: c.DeviceName, State: state, Detail: detail, Done: done, Total: total})
	}
	item := schema.ToolItem{ID: c.DeviceName, Name: c.DeviceName, Status: schema.ItemSuccess}
	node, err := topology.Find(c.DeviceName)
	if err == nil {
		item.ID, item.Name = node.ID, node.Name
		err = reachable(node)
	}
	if err != nil {
		tell(schema.DeviceFailed, 0, schema.AsError(err).Message)
		return failItem(item, err)
	}
	target := console.Target{Device: node.Name, Address: node.ConsoleAddress, Platform: node.Platform}
	done := 0
	report, err := d.Consoles.Run(ctx, target, c.Commands, func(state string, n, _ int, detail string) {
		done = n
		// The end is told below: a console that worked may have refused a command.
		if s := schema.DeviceState(state); s != schema.DeviceDone && s != schema.DeviceFailed {
			tell(s, n, detail)
		}
	})
	item = readReport(item, report, err)
	if item.Status == schema.ItemFailed {
		tell(schema.DeviceFailed, done, item.Error)
	} else {
		tell(schema.DeviceDone, total, "")
	}
	return item
}

// reachable refuses a node whose console can't answer, in words that say what to do.
func reachable(n gns3.Node) error {
	if n.Status != "started" {
		return schema.Errorf(schema.CodeNodeStopped, "%s is not running (its status is %s), so its console can't be used.", n.Name, n.Status).
			WithHint("Start %s in GNS3 first.", n.Name)
	}
	if n.ConsoleAddress == "" {
		return schema.Errorf(schema.CodeConsoleNone, "%s has no telnet console.", n.Name).
			WithHint("Set its console type to telnet in GNS3.")
	}
	return nil
}

// readReport turns what the console gave into the device's item: a transcript, and what went wrong.
func readReport(item schema.ToolItem, report console.Report, err error) schema.ToolItem {
	var text strings.Builder
	var faults []string
	good := 0
	if report.Note != "" {
		fmt.Fprintf(&text, "(%s)\n", report.Note)
	}
	for _, out := range report.Outputs {
		fmt.Fprintf(&text, "%s> %s\n", item.Name, out.Command)
		if out.Text != "" {
			text.WriteString(strings.TrimRight(out.Text, "\n") + "\n")
		}
		if out.Err != nil {
			faults = append(faults, out.Err.Message)
		} else {
			good++
		}
	}
	item.Result = text.String()
	stopped := errors.Is(err, context.Canceled)
	switch {
	case stopped && faults == nil:
		faults = append(faults, "The command was stopped before it ended.")
	case err != nil && !stopped:
		faults = append(faults, schema.AsError(err).Message)
	}
	if faults == nil {
		return item
	}
	item.Status, item.Error = schema.ItemFailed, strings.Join(faults, " ")
	switch {
	case stopped:
		item.Outcome = schema.OutcomeAborted
	case good > 0:
		item.Outcome = schema.OutcomePartial
	}
	return item
}

func failItem(item schema.ToolItem, err error) schema.ToolItem {
	e := schema.AsError(err)
	item.Status, item.Error = schema.ItemFailed, e.Message
	if e.Hint != "" {
		item.Error += " " + e.Hint
	}
	return item
}
