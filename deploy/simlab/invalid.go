package simlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// source is the place in GNS3's own code that its validation errors name.
type source struct {
	file string
	line int
	name string
}

// invalid answers 422 as GNS3 does: Python's own way to write what is wrong, and where in the server it was noticed.
func (c *call) invalid(problems ...string) {
	noun := "errors"
	if len(problems) == 1 {
		noun = "error"
	}
	at := c.route.at
	c.fail(http.StatusUnprocessableEntity, fmt.Sprintf(
		"%d validation %s:\n  %s\n\n  File \"/opt/gns3/gns3server/api/routes/controller/%s\", line %d, in %s\n    %s %s",
		len(problems), noun, strings.Join(problems, "\n  "), at.file, at.line, at.name, c.route.method, c.route.path))
}

// badUUIDs lists what is wrong with the ids in the path.
func (c *call) badUUIDs() []string {
	var problems []string
	for _, name := range []string{"project_id", "node_id", "link_id", "snapshot_id", "template_id"} {
		value := c.r.PathValue(name)
		if value == "" {
			continue
		}
		if _, err := uuid.Parse(value); err != nil {
			reason := uuidProblem(value)
			problems = append(problems, fmt.Sprintf("{'type': 'uuid_parsing', 'loc': ('path', '%s'), "+
				"'msg': 'Input should be a valid UUID, %s', 'input': %s, 'ctx': {'error': '%s'}}", name, reason, pythonString(value), reason))
		}
	}
	return problems
}

// uuidProblem says what keeps a text from being a UUID, in the words of GNS3's parser.
func uuidProblem(text string) string {
	groups := strings.Split(text, "-")
	for i, r := range text {
		if r != '-' && !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return fmt.Sprintf("invalid character: found `%c` at %d", r, i+1)
		}
	}
	if len(groups) == 1 {
		return fmt.Sprintf("invalid length: expected length 32 for simple format, found %d", len(text))
	}
	if len(groups) != 5 {
		return fmt.Sprintf("invalid group count: expected 5, found %d", len(groups))
	}
	for i, want := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != want {
			return fmt.Sprintf("invalid group length in group %d: expected %d, found %d", i, want, len(groups[i]))
		}
	}
	return "invalid UUID"
}

// pythonString quotes a text as Python's repr does.
func pythonString(text string) string {
	text = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `\'`) + "'"
}

// missing is a required field that isn't there.
func missing(field string) string {
	return fmt.Sprintf("{'type': 'missing', 'loc': ('body', '%s'), 'msg': 'Field required', 'input': None}", field)
}

// readJSON reads the body. It answers 422 itself and reports false when the body isn't a JSON object of the right types.
func (c *call) readJSON(into any) bool {
	const maxBody = 1 << 20
	err := json.NewDecoder(http.MaxBytesReader(c.w, c.r.Body, maxBody)).Decode(into)
	if err == nil {
		return true
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		c.invalid(fmt.Sprintf("{'type': '%s_type', 'loc': ('body', '%s'), 'msg': 'Input should be a valid %s'}",
			wrong.Type, wrong.Field, wrong.Type))
		return false
	}
	at := int64(0)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(syntax.Offset-1, 0)
	}
	c.invalid(fmt.Sprintf("{'type': 'json_invalid', 'loc': ('body', %d), 'msg': 'JSON decode error', 'input': {}, "+
		"'ctx': {'error': 'Expecting value'}}", at))
	return false
}
