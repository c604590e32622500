package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/gowebpki/jcs"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Unwrap reads a call's arguments as the model wrote them: an object, or the GNS3 web UI's envelope around one, whose only field
// tool_input holds the object or its JSON text. Empty text stands for no arguments. It fails with CodeToolArguments.
func Unwrap(arguments string) (map[string]json.RawMessage, error) {
	args, err := object([]byte(arguments))
	if err != nil && len(arguments) > MaxArguments-1<<10 {
		return nil, tooLong()
	}
	if err != nil {
		return nil, err
	}
	inner, wrapped := args["tool_input"]
	if !wrapped {
		return args, nil
	}
	if trimmed := bytes.TrimSpace(inner); len(trimmed) > 0 && trimmed[0] == '"' {
		var text string
		if err := json.Unmarshal(inner, &text); err != nil {
			return nil, badArguments(err)
		}
		inner = []byte(text)
	}
	if trimmed := bytes.TrimSpace(inner); len(trimmed) > 0 && trimmed[0] == '[' {
		if !json.Valid(trimmed) {
			return nil, badArguments(nil)
		}
		return map[string]json.RawMessage{"device_configs": trimmed}, nil
	}
	return object(inner)
}

func object(text []byte) (map[string]json.RawMessage, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]json.RawMessage{}, nil
	}
	args := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &args); err != nil {
		return nil, badArguments(err)
	}
	if args == nil { // the text was null
		args = map[string]json.RawMessage{}
	}
	return args, nil
}

// argumentsSchema is the schema of a tool that takes these properties, some of which it needs, and the project: models like to name it.
func argumentsSchema(properties string, required ...string) json.RawMessage {
	all := `"project_id": {"type": "string", "description": "May be left out: it is always the current project."}`
	if properties != "" {
		all += "," + properties
	}
	return schema.Text(struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required,omitempty"`
		Additional bool            `json:"additionalProperties"`
	}{Type: "object", Properties: json.RawMessage("{" + all + "}"), Required: required})
}

// MaxArguments bounds a call's arguments, in bytes. The model's longer ones are cut, and so fail: no tool takes as much.
const MaxArguments = 256 << 10

func tooLong() error {
	return schema.Errorf(schema.CodeToolArguments, "The arguments are too long: more than %d KiB.", MaxArguments>>10).
		WithHint("Split the work into several calls.")
}

func badArguments(err error) error {
	return schema.Errorf(schema.CodeToolArguments, "The arguments are not a JSON object.").
		WithHint("Call the tool again with one complete JSON object. If the output limit cut it, do less in one call.").WithCause(err)
}

// HashArguments is the SHA-256 of the arguments' canonical form (RFC 8785) after unwrapping, or of the text itself when it
// can't be read: such a call is never run, but it still needs a name.
func HashArguments(arguments string) string {
	args, err := Unwrap(arguments)
	if err != nil {
		return store.Hash(arguments)
	}
	canonical, err := jcs.Transform(schema.Text(args))
	if err != nil {
		return store.Hash(arguments)
	}
	return store.Hash(string(canonical))
}

// compile reads a tool's schema. Schemas are ours, so a broken one is a defect found at start.
func compile(name string, text json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name+".json", doc); err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", name, err)
	}
	s, err := c.Compile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", name, err)
	}
	return s, nil
}

// check validates arguments. It fails with CodeToolArguments and a message that names what is wrong where.
func check(s *jsonschema.Schema, args json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return badArguments(err)
	}
	err = s.Validate(doc)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return badArguments(err)
	}
	return schema.Errorf(schema.CodeToolArguments, "The arguments don't fit: %s.", strings.Join(faults(invalid), "; ")).
		WithHint("Call the tool again with arguments that fit its schema.")
}

// faults lists the innermost causes, a few of them.
func faults(e *jsonschema.ValidationError) []string {
	const most = 5
	var list []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			walk(c)
		}
		if len(e.Causes) == 0 && len(list) < most {
			where := strings.Join(e.InstanceLocation, ".")
			if where == "" {
				where = "the object"
			}
			list = append(list, where+": "+e.ErrorKind.LocalizedString(printer()))
		}
	}
	walk(e)
	return list
}
