// Package tools is what the model can call: the tool interface, the registry, and one file for each tool with the text that
// describes it to the model.
package tools

import (
	"context"
	"encoding/json"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

// Category says what a tool needs.
type Category string

// The categories.
const (
	CategoryLab    Category = "lab"    // the GNS3 server alone
	CategoryDevice Category = "device" // device consoles, so it runs on a worker near the lab
)

// Metadata describes a tool. Description is what the model reads.
type Metadata struct {
	Name        string
	Description string
	Version     string
	Category    Category
	Author      string
}

// Tool is the required part of the tool interface.
type Tool interface {
	Metadata() Metadata
	// Schema is the JSON Schema of the arguments, which are checked against it before Execute.
	Schema() json.RawMessage
	// Execute runs the call and returns a result for each device, node or link, in the order of the request. An error is a
	// failure of the whole call. When ctx ends it returns what it has by then.
	Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error)
}

// Env is what a call may use besides its arguments.
type Env struct {
	Ref schema.TurnRef
	// Topology reads the lab as it is now, with the rights of the turn's owner.
	Topology func(context.Context) (gns3.Topology, error)
	// Progress tells readers where a device stands. It may be called from several goroutines at once.
	Progress func(schema.DeviceProgress)
}

// Planner is a tool that can say, before it runs, what a call would do.
type Planner interface {
	// Plan describes the call for operators, by names and counts alone. It fails with CodeRefused when the policy doesn't let
	// the call run.
	Plan(args json.RawMessage) (summary string, err error)
}

// Normalizer is a tool that accepts more than one form of arguments.
type Normalizer interface {
	// Normalize brings the arguments into the form that Schema describes.
	Normalize(args map[string]json.RawMessage) error
}
