package capture

import (
	"errors"
	"regexp"
	"strings"

	"gns3copilot/schema"
)

// invalidFields is how tshark begins a list of names that aren't fields.
const invalidFields = "Some fields aren't valid:"

// ownFile finds the name of the file that tshark reads, which is nobody's business.
var ownFile = regexp.MustCompile(`[^\s"']*(` + tempName + `|` + descriptor + `)[^\s"']*`)

// complaint makes the error for a run that failed, of what tshark said.
func complaint(said string, err error) error {
	if _, ok := errors.AsType[*schema.Error](err); ok {
		return err
	}
	lines := complaints(said)
	if len(lines) == 0 {
		return schema.Errorf(schema.CodeUnavailable, "tshark broke off.").WithCause(err).
			WithHint("The capture may be too big or damaged for it: narrow it down with -c.")
	}
	if i := strings.Index(lines[0], invalidFields); i >= 0 {
		return schema.Errorf(schema.CodeToolArguments, "Invalid tshark field names: %s", strings.Join(lines[1:], ", ")).WithCause(err).
			WithHint("Look fields up with action search_fields and one keyword.")
	}
	const most = 12 // the first lines say what is wrong, and can list all there is instead
	if len(lines) > most {
		lines = lines[:most]
	}
	message := strings.TrimPrefix(lines[0], "tshark: ")
	return schema.Errorf(schema.CodeToolArguments, "tshark argument error: %s", strings.Join(append([]string{message}, lines[1:]...), "\n")).
		WithCause(err).WithHint("%s", advice(message))
}

// complaints are the lines of what tshark said, without what it says each time.
func complaints(said string) []string {
	var lines []string
	for line := range strings.Lines(ownFile.ReplaceAllString(said, "the capture")) {
		line = strings.TrimRight(line, "\r\n")
		if text := strings.TrimSpace(line); text == "" || strings.HasPrefix(text, "Running as user ") {
			continue
		}
		if len(lines) > 0 && strings.Contains(lines[0], invalidFields) {
			line = strings.TrimSpace(line)
		}
		lines = append(lines, line)
	}
	return lines
}

// advice says what to do about tshark's usual complaints.
func advice(message string) string {
	says := func(part string) bool { return strings.Contains(message, part) }
	switch {
	case says("neither a field nor a protocol"), says("not a valid protocol"), says("must be a field"):
		return "Look fields up with action search_fields and one keyword."
	case says("no fields were specified"):
		return "Name the fields: -T fields -e ip.src -e ip.dst."
	case says("Output fields were specified"):
		return "Write -T fields before -e."
	case says("-R without -2"):
		return "Use -Y."
	case says("Invalid -z argument"):
		return "Use one of the statistics in the list."
	}
	return "Check the display filter's syntax: -Y 'ip.src == 10.0.0.1 && icmp.type == 8'."
}
