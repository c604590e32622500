package tools

import (
	"cmp"
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
type DeviceCommands struct {
	Consoles Consoles
	// Policy judges the commands again by what the device turns out to be: the lab's word for it may be wrong. nil leaves that out.
	Policy func() *policy.Policy
}

var (
	_ Tool       = DeviceCommands{}
	_ Changer    = DeviceCommands{}
	_ Normalizer = DeviceCommands{}
)

// DeviceCommandsName is the tool's name for the model and for clients.
const DeviceCommandsName = "execute_multiple_device_commands"

// Metadata describes the tool.
func (DeviceCommands) Metadata() Metadata {
	return metadata(DeviceCommandsName, commandsText, CategoryDevice)
}

// Schema describes the arguments.
func (DeviceCommands) Schema() json.RawMessage { return commandSchema("commands") }

// Normalize also accepts device_names with commands, the form in the chat API's examples.
func (DeviceCommands) Normalize(args map[string]json.RawMessage) error {
	return spreadCommands(args, "commands")
}

// Changes lists the commands for each device: one that doesn't only read is a change, whatever the tool is called.
func (DeviceCommands) Changes(args json.RawMessage) ([]Change, error) {
	return changes(args, false, func(c deviceConfig) []string { return c.Commands })
}

// Execute runs each device's commands on its console, the devices side by side, and gives an item for each device in
// the order of the request. A device's failure is its item's, not the call's.
func (d DeviceCommands) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	if env.Push != nil {
		return pushAll(ctx, env, d, args)
	}
	if err := OwnProject(args, env.Ref.ProjectID); err != nil {
		return nil, err
	}
	configs, err := d.Changes(args)
	if err != nil {
		return nil, err
	}
	topology, err := env.Topology(ctx)
	if err != nil {
		return nil, err
	}
	if err := Opened(topology); err != nil {
		return nil, err
	}
	configs = ByDevice(configs, topology)
	found, err := findAll(ctx, env, topology, configs)
	if err != nil {
		return nil, err
	}
	items := make([]schema.ToolItem, len(configs))
	var wg sync.WaitGroup
	for i, c := range configs {
		wg.Go(func() { items[i] = d.runDevice(ctx, env, found[i], c) })
	}
	wg.Wait()
	return items, nil
}

// foundNode is the node that a call names, or why its console can't be used.
type foundNode struct {
	gns3.Node
	err error
}

// findAll looks all devices up before the first one is typed on. It fails when it can't be told whose console may be used.
func findAll(ctx context.Context, env Env, topology gns3.Topology, configs []Change) ([]foundNode, error) {
	found := make([]foundNode, len(configs))
	var wg sync.WaitGroup
	for i, c := range configs {
		f := &found[i]
		if f.Node, f.err = topology.Find(c.Device); f.err != nil {
			continue
		}
		if f.err = Reachable(f.Node); f.err == nil {
			wg.Go(func() { f.err = env.MayUse(ctx, f.Node) })
		}
	}
	wg.Wait()
	for _, f := range found {
		switch schema.CodeOf(f.err) {
		case schema.CodeCredentialMissing, schema.CodeGNS3Unavailable, schema.CodeAborted:
			return nil, f.err
		}
	}
	return found, nil
}

func (d DeviceCommands) runDevice(ctx context.Context, env Env, node foundNode, c Change) schema.ToolItem {
	total := len(c.Lines)
	tell := func(state schema.DeviceState, done int, detail string) {
		env.Progress(schema.DeviceProgress{DeviceName: c.Device, State: state, Detail: detail, Done: done, Total: total})
	}
	item := schema.ToolItem{ID: c.Device, Name: c.Device, Status: schema.ItemSuccess}
	if node.ID != "" {
		item.ID, item.Name = node.ID, node.Name
	}
	if node.err != nil {
		tell(schema.DeviceFailed, 0, schema.AsError(node.err).Message)
		return failItem(item, node.err)
	}
	target := consoleOf(env, node.Node)
	target.Check = d.onlyReads(node.Name, c.Lines)
	done := 0
	report, err := d.Consoles.Run(ctx, target, c.Lines, func(state string, n, _ int, detail string) {
		done = n
		// The end is told below: a console that worked may have refused a command.
		if s := schema.DeviceState(state); s != schema.DeviceDone && s != schema.DeviceFailed {
			tell(s, n, detail)
		}
	})
	item = readReport(item, report, Explained(err, func() error {
		_, gone := target.Locate(ctx)
		return gone
	}))
	if item.Status == schema.ItemFailed {
		tell(schema.DeviceFailed, done, item.Error)
	} else {
		tell(schema.DeviceDone, total, "")
	}
	return item
}

// consoleOf is the node's console, which is looked for by the node's id again when the node may have been restarted.
func consoleOf(env Env, node gns3.Node) console.Target {
	return console.Target{
		Device: node.Name, Node: node.ID, Address: node.ConsoleAddress, Platform: node.Platform,
		Locate: func(ctx context.Context) (string, error) {
			topology, err := env.Topology(ctx)
			if err != nil {
				return "", err
			}
			if err := Opened(topology); err != nil {
				return "", err
			}
			now, err := topology.ByID(node.ID, node.Name)
			if err == nil {
				err = Reachable(now)
			}
			return now.ConsoleAddress, err
		},
	}
}

// onlyReads refuses commands that do more than read on the platform that the device turned out to be.
func (d DeviceCommands) onlyReads(device string, lines []string) func(string) error {
	if d.Policy == nil {
		return nil
	}
	return func(platform string) error {
		if d.Policy().Commands(platform, lines).Action == policy.Allow {
			return nil
		}
		return schema.Errorf(schema.CodeRefused, "Nothing was sent: %s turned out to be a %s device, where this does more than read.", device, platform).
			WithHint("Correct the device_type tag of %s in GNS3 and ask again.", device)
	}
}

// Opened refuses a project that was closed meanwhile: nothing runs in it.
func Opened(t gns3.Topology) error {
	if t.Status != "closed" {
		return nil
	}
	return schema.Errorf(schema.CodeProjectClosed, "The project was closed, which stops its nodes.").
		WithHint("Open it in GNS3 and start the nodes that are needed.")
}

// Explained adds to the end of a console what the lab says of its node, which look tells: that it was stopped, or the project closed.
func Explained(err error, look func() error) error {
	if schema.CodeOf(err) != schema.CodeConsoleClosed {
		return err
	}
	gone := look()
	switch schema.CodeOf(gone) {
	case schema.CodeProjectClosed, schema.CodeNotFound, schema.CodeDeviceUnknown, schema.CodeNodeStopped, schema.CodeConsoleClosed:
	default:
		return err
	}
	why := schema.AsError(gone)
	return schema.Errorf(schema.CodeConsoleClosed, "%s %s", schema.AsError(err).Message, why.Message).WithHint("%s", why.Hint).WithCause(err)
}

// Reachable refuses a node whose console can't answer, in words that say what to do.
func Reachable(n gns3.Node) error {
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

// Transcript is what was typed and said, as the console showed it.
func Transcript(device string, report console.Report) string {
	var b strings.Builder
	if report.Note != "" {
		fmt.Fprintf(&b, "(%s)\n", report.Note)
	}
	for _, o := range report.Outputs {
		b.WriteString(cmp.Or(o.Prompt, device+"> ") + o.Command + "\n")
		if o.Text != "" {
			b.WriteString(strings.TrimRight(o.Text, "\n") + "\n")
		}
	}
	return b.String()
}

// readReport turns what the console gave into the device's item: a transcript, and what went wrong.
func readReport(item schema.ToolItem, report console.Report, err error) schema.ToolItem {
	var faults []string
	good, stopped := 0, errors.Is(err, context.Canceled)
	for _, out := range report.Outputs {
		switch {
		case out.Err == nil:
			good++
		case stopped || !errors.Is(err, out.Err): // else it is told below
			faults = append(faults, out.Err.Message)
		}
	}
	item.Result = Transcript(item.Name, report)
	switch {
	case stopped && faults == nil:
		faults = append(faults, "The command was stopped before it ended.")
	case err != nil && !stopped:
		faults = append(faults, Told(err))
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
	item.Status, item.Error = schema.ItemFailed, Told(err)
	return item
}

// Told is what is wrong, and what to do about it.
func Told(err error) string {
	e := schema.AsError(err)
	if e.Hint == "" {
		return e.Message
	}
	message := e.Message
	if !strings.ContainsAny(message[max(0, len(message)-1):], ".!?…") { // GNS3's sentences end without
		message += "."
	}
	return message + " " + e.Hint
}
