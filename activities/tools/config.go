package tools

import (
	"context"
	_ "embed"
	"encoding/json"

	"gns3copilot/schema"
)

//go:embed config.md
var configText string

//go:embed vpcs.md
var vpcsText string

// DeviceConfig changes the configuration of devices: a human confirms each call before a line is sent.
type DeviceConfig struct{}

var (
	_ Tool       = DeviceConfig{}
	_ Changer    = DeviceConfig{}
	_ Normalizer = DeviceConfig{}
)

// Metadata describes the tool.
func (DeviceConfig) Metadata() Metadata {
	return metadata("execute_multiple_device_config_commands", configText, CategoryDevice)
}

// Schema describes the arguments.
func (DeviceConfig) Schema() json.RawMessage { return commandSchema("config_commands") }

// Normalize also accepts device_names with commands.
func (DeviceConfig) Normalize(args map[string]json.RawMessage) error {
	return spreadCommands(args, "config_commands")
}

// Changes lists the lines for each device.
func (DeviceConfig) Changes(args json.RawMessage) ([]Change, error) {
	return changes(args, true, func(c deviceConfig) []string { return c.ConfigCommands })
}

// Execute sends the change to its device.
func (d DeviceConfig) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	return pushAll(ctx, env, d, args)
}

// VPCSCommands runs commands on VPCS nodes. What only reads runs at once; what changes one needs a human's word.
type VPCSCommands struct{ Reader DeviceCommands }

var (
	_ Tool       = VPCSCommands{}
	_ Changer    = VPCSCommands{}
	_ Normalizer = VPCSCommands{}
)

// Metadata describes the tool.
func (VPCSCommands) Metadata() Metadata {
	return metadata("execute_vpcs_commands", vpcsText, CategoryDevice)
}

// Schema describes the arguments.
func (VPCSCommands) Schema() json.RawMessage { return commandSchema("commands") }

// Normalize also accepts device_names with commands.
func (VPCSCommands) Normalize(args map[string]json.RawMessage) error {
	return spreadCommands(args, "commands")
}

// Changes lists the commands for each node.
func (VPCSCommands) Changes(args json.RawMessage) ([]Change, error) {
	return changes(args, false, func(c deviceConfig) []string { return c.Commands })
}

// Execute sends a confirmed change to its node, and runs a call that only reads.
func (v VPCSCommands) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	if env.Push == nil {
		return v.Reader.Execute(ctx, env, args)
	}
	return pushAll(ctx, env, v, args)
}
