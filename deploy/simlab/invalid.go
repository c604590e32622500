package simlab

import (
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
	for _, name := range []string{"project_id", "node_id", "link_id", "snapshot_id", "template_id", "user_id", "user_group_id"} {
		value := c.r.PathValue(name)
		if value == "" {
			continue
		}
		problems = append(problems, badUUID(place{"path", name}, value)...)
	}
	return problems
}

// badUUID says what is wrong with an id; nothing when it is one.
func badUUID(at place, value string) []string {
	if _, err := uuid.Parse(value); err == nil {
		return nil
	}
	reason := uuidProblem(value)
	return []string{fmt.Sprintf("{'type': 'uuid_parsing', 'loc': %s, 'msg': 'Input should be a valid UUID, %s', 'input': %s, 'ctx': {'error': '%s'}}",
		at, reason, pythonString(value), reason)}
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
