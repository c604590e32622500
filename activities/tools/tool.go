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
	CategoryChat   Category = "chat"   // what the worker has itself: the conversation, its skills
)

// Metadata describes a tool. Description is what the model reads.
type Metadata struct {
	Name        string
	Description string
	Version     string
	Category    Category
	Author      string
}

// metadata describes a tool of our own.
func metadata(name, description string, c Category) Metadata {
	return Metadata{Name: name, Description: description, Version: "1.0.0", Category: c, Author: "GNS3 Copilot"}
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
	// Lab is the project on its GNS3 server. It fails with CodeCredentialMissing.
	Lab func(context.Context) (Access, error)
	// MayUse asks whether the turn's owner may use a node's console; CodeForbidden is a no.
	MayUse func(context.Context, gns3.Node) error
	// Output gives the whole result of an earlier call in the turn's session. It fails with CodeNotFound.
	Output func(ctx context.Context, callID string) (string, error)
	// Progress tells readers where a device stands. It may be called from several goroutines at once.
	Progress func(schema.DeviceProgress)
	// Device is the one device that a confirmed change is run for, by its name in Shown: the lab as it was when the change was judged.
	Device string
	Shown  gns3.Topology
	// Push sends a change to a device under its journal. It is nil when the call isn't a confirmed one.
	Push func(context.Context, Change) schema.ToolItem
}

// Change is what a call does to one device.
type Change struct {
	Device string   // as the call names it; after ByDevice as the lab does
	NodeID string   // "" when the lab has no such device
	Lines  []string // in the order of sending
	// Config is true for lines of configuration mode; others are typed at the base prompt.
	Config bool
}

// Changer is a tool that may change devices. Its changes are judged before, and each goes to its device at most once.
type Changer interface {
	// Changes lists what a call does, in the order of the request. A device may come more than once.
	Changes(args json.RawMessage) ([]Change, error)
}

// Normalizer is a tool that accepts more than one form of arguments.
type Normalizer interface {
	// Normalize brings the arguments into the form that Schema describes.
	Normalize(args map[string]json.RawMessage) error
}
