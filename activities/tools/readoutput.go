package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"gns3copilot/schema"
)

//go:embed readoutput.md
var readOutputText string

// OutputReader reads results that were too long for the model, a part at a time.
type OutputReader struct{}

var _ Tool = OutputReader{}

// How much the tool gives at once, in bytes. The most leaves room for what is said about the part, so that no answer is cut itself.
const (
	usualPart = 16 << 10
	mostPart  = 60 << 10
)

// Metadata describes the tool.
func (OutputReader) Metadata() Metadata {
	return metadata(schema.ToolReadOutput, readOutputText, CategoryChat)
}

// Schema describes the arguments.
func (OutputReader) Schema() json.RawMessage {
	return json.RawMessage(`{
		"type": "object",
		"properties": {
			"id": {"type": "string", "minLength": 1, "description": "The id of the call."},
			"from": {"type": "integer", "minimum": 0, "default": 0, "description": "The byte to begin at."},
			"length": {"type": "integer", "minimum": 1, "default": 16384, "description": "How many bytes, at most 61440."},
			"search": {"type": "string", "maxLength": 1000, "description": "Gives only the lines that contain this text."}
		},
		"required": ["id"],
		"additionalProperties": false
	}`)
}

// Execute gives a part of a result, or the lines that hold a text, as one item. It fails with CodeToolArguments for a call that the session
// doesn't have, and for a place behind the result's end.
func (OutputReader) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	var in struct {
		ID           string
		From, Length float64 // a whole number may be written with a fraction
		Search       string
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, badArguments(err)
	}
	stored, err := env.Output(ctx, in.ID)
	if schema.CodeOf(err) == schema.CodeNotFound {
		return nil, schema.Errorf(schema.CodeToolArguments, "This conversation has no result of a call with the id %q.", schema.CutText(in.ID, 100)).
			WithHint("Take the id from the metadata of a result that was cut, or from tool_call_id.")
	}
	if err != nil {
		return nil, err
	}
	text := readable(stored)
	if in.From > 0 && in.From >= float64(len(text)) {
		return nil, schema.Errorf(schema.CodeToolArguments, "The result has only %d bytes.", len(text)).WithHint("Choose from below that.")
	}
	if in.Length == 0 {
		in.Length = usualPart
	}
	from, length := runeStart(text, int(in.From)), int(min(in.Length, mostPart))
	result := ""
	if in.Search != "" {
		result = find(text, in.Search, from, length)
	} else {
		result = excerpt(text, from, length)
	}
	return []schema.ToolItem{{ID: in.ID, Name: in.ID, Status: schema.ItemSuccess, Result: result}}, nil
}

// excerpt gives some bytes of a text behind a line that says which they are. It gives one character at least.
func excerpt(text string, from, length int) string {
	to := runeStart(text, min(from+length, len(text)))
	if to == from && from < len(text) {
		_, width := utf8.DecodeRuneInString(text[from:])
		to += width
	}
	more := "That is the end."
	if to < len(text) {
		more = fmt.Sprintf("The next part begins at %d.", to)
	}
	return fmt.Sprintf("[Bytes %d to %d of %d. %s]\n%s", from, to, len(text), more, text[from:to])
}

// runeStart is where the character begins that a byte belongs to.
func runeStart(text string, at int) int {
	for back := 1; back < utf8.UTFMax && at > 0 && at < len(text) && !utf8.RuneStart(text[at]); back++ {
		at--
	}
	return at
}

// readable is a result for reading: the devices' outputs one after the other. What isn't in the standard form stays as it is.
func readable(stored string) string {
	var r schema.ToolResponse
	if json.Unmarshal([]byte(stored), &r) != nil || r.Data == nil {
		return strings.ToValidUTF8(stored, string(utf8.RuneError))
	}
	var b strings.Builder
	for _, item := range r.Data {
		status := string(item.Status)
		if item.Outcome != "" {
			status += ", " + item.Outcome
		}
		fmt.Fprintf(&b, "=== %s (%s) ===\n", item.Name, status)
		line(&b, "Error: ", item.Error)
		line(&b, "", item.Result)
	}
	line(&b, "Error: ", r.Error)
	return b.String()
}

// line writes a text, if there is one, with a line's end.
func line(b *strings.Builder, label, text string) {
	if text != "" {
		b.WriteString(label + strings.TrimSuffix(text, "\n") + "\n")
	}
}
