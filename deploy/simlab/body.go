package simlab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// maxBody is how long a request's body may be.
const maxBody = 1 << 20

// place is where something is wrong: "body", then names of fields and positions in lists.
type place []any

// String writes the place as Python writes a tuple.
func (p place) String() string {
	var parts []string
	for _, part := range p {
		if name, ok := part.(string); ok {
			parts = append(parts, pythonString(name))
		} else {
			parts = append(parts, fmt.Sprint(part))
		}
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// under is a place below this one.
func (p place) under(parts ...any) place { return append(append(place{}, p...), parts...) }

// missing is a required field of the body that isn't there.
func missing(field string) string { return missingAt(place{"body", field}) }

func missingAt(at place) string {
	return fmt.Sprintf("{'type': 'missing', 'loc': %s, 'msg': 'Field required', 'input': None}", at)
}

// wrongType says that a value isn't of the kind that is wanted. The value itself is never repeated: it may be a password.
func wrongType(at place, kind, message string) string {
	return fmt.Sprintf("{'type': '%s', 'loc': %s, 'msg': '%s'}", kind, at, message)
}

// readJSON reads the body. It answers 422 itself and reports false when the body isn't one JSON object of the right types.
func (c *call) readJSON(into any) bool {
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	if err != nil {
		c.fail(http.StatusRequestEntityTooLarge, "The request's body is too long, or ended early")
		return false
	}
	if problem := readOnly(raw, into); problem != "" {
		c.invalid(problem)
		return false
	}
	return true
}

// readOnly reads a body of one value, and says what is wrong with it.
func readOnly(raw []byte, into any) string {
	if len(raw) == 0 {
		return missingAt(place{"body"})
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		at := int64(0)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = max(syntax.Offset-1, 0)
		}
		return notJSON(at, "Expecting value")
	}
	if rest := bytes.TrimLeft(raw[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return notJSON(int64(len(raw)-len(rest)), "Extra data")
	}
	return readValue(value, into, place{"body"})
}

// notJSON is a body that Python's json module refuses.
func notJSON(at int64, reason string) string {
	return fmt.Sprintf("{'type': 'json_invalid', 'loc': ('body', %d), 'msg': 'JSON decode error', 'input': {}, 'ctx': {'error': '%s'}}", at, reason)
}

// readValue reads the value at a place, which must be an object if into is one, and says what is wrong with it.
func readValue(raw json.RawMessage, into any, at place) string {
	if string(raw) == "null" {
		return missingAt(at)
	}
	err := json.Unmarshal(raw, into)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
		return ""
	case !ok:
		return notJSON(0, "Expecting value")
	}
	if wrong.Field != "" {
		for name := range strings.SplitSeq(wrong.Field, ".") {
			at = at.under(name)
		}
	}
	kind, message := typeProblem(wrong)
	return wrongType(at, kind, message)
}

// typeProblem names the kind that was wanted in pydantic's words.
func typeProblem(wrong *json.UnmarshalTypeError) (kind, message string) {
	number := strings.HasPrefix(wrong.Value, "number")
	switch wrong.Type.Kind() {
	case reflect.String:
		return "string_type", "Input should be a valid string"
	case reflect.Slice:
		return "list_type", "Input should be a valid list"
	case reflect.Bool:
		if number || wrong.Value == "string" {
			return "bool_parsing", "Input should be a valid boolean, unable to interpret input"
		}
		return "bool_type", "Input should be a valid boolean"
	case reflect.Int:
		switch {
		case number && strings.ContainsAny(wrong.Value, ".e"):
			return "int_from_float", "Input should be a valid integer, got a number with a fractional part"
		case wrong.Value == "string":
			return "int_parsing", "Input should be a valid integer, unable to parse string as an integer"
		}
		return "int_type", "Input should be a valid integer"
	}
	return "model_attributes_type", "Input should be a valid dictionary or object to extract fields from"
}
