package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gns3copilot/schema"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Registry knows the tools and in which modes they may be used.
type Registry struct {
	tools map[string]entry
	names []string
}

type entry struct {
	tool   Tool
	schema *jsonschema.Schema
	modes  []schema.Mode
}

// NewRegistry makes a registry without tools.
func NewRegistry() *Registry {
	return &Registry{tools: map[string]entry{}}
}

// Add puts a tool in, for these modes. It fails on a schema that can't be read and on a name that is taken.
func (r *Registry) Add(t Tool, modes ...schema.Mode) error {
	name := t.Metadata().Name
	if _, taken := r.tools[name]; taken {
		return fmt.Errorf("tool %s is registered twice", name)
	}
	s, err := compile(name, t.Schema())
	if err != nil {
		return err
	}
	r.tools[name] = entry{tool: t, schema: s, modes: modes}
	r.names = append(r.names, name)
	return nil
}

// Names gives the names of all tools.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Definitions gives the tools of a mode, in the order they were added.
func (r *Registry) Definitions(mode schema.Mode) []Tool {
	var list []Tool
	for _, name := range r.names {
		if e := r.tools[name]; slices.Contains(e.modes, mode) {
			list = append(list, e.tool)
		}
	}
	return list
}

// Resolve finds the tool of a call, if the mode has it, and brings the arguments into its form, checked against its schema. It fails
// with CodeToolUnknown, CodeRefused (not in this mode) or CodeToolArguments.
func (r *Registry) Resolve(name, arguments string, mode schema.Mode) (Tool, json.RawMessage, error) {
	e, ok := r.tools[name]
	if !ok {
		return nil, nil, schema.Errorf(schema.CodeToolUnknown, "There is no tool named %q.", schema.CutText(name, 100)).
			WithHint("The tools are: %s.", strings.Join(r.modeNames(mode), ", "))
	}
	if !slices.Contains(e.modes, mode) {
		return nil, nil, schema.Errorf(schema.CodeRefused, "The tool %s is not available in the mode %s.", name, mode).
			WithHint("The tools of this mode are: %s.", strings.Join(r.modeNames(mode), ", "))
	}
	args, err := Unwrap(arguments)
	if err != nil {
		return nil, nil, err
	}
	if n, ok := e.tool.(Normalizer); ok {
		if err := n.Normalize(args); err != nil {
			return nil, nil, err
		}
	}
	text := json.RawMessage(schema.Text(args))
	if err := check(e.schema, text); err != nil {
		return nil, nil, err
	}
	return e.tool, text, nil
}

func (r *Registry) modeNames(mode schema.Mode) []string {
	var names []string
	for _, t := range r.Definitions(mode) {
		names = append(names, t.Metadata().Name)
	}
	return names
}

// printer words schema faults for the model.
func printer() *message.Printer { return message.NewPrinter(language.English) }
