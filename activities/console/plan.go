package console

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gns3copilot/schema"
)

// configLevel is the name that all definitions give to the configuration mode. A platform without it, such as VPCS, is
// configured at its base prompt.
const configLevel = "configuration"

// step is what a Push does with one line.
type step struct {
	line string
	skip bool // blank or a comment: not typed
	text bool // typed into a text block, where the device shows no prompt
	open bool // no prompt follows it, because a text block is open
}

// plan works out what to do with each line. It refuses lines that can't end well: one that isn't a single line of text,
// `end` before others, which would then run as commands, and a text block without its end.
func (p *platform) plan(lines []string) ([]step, *schema.Error) {
	if len(lines) == 0 {
		return nil, schema.Errorf(schema.CodeInvalid, "There are no lines to send.")
	}
	steps := make([]step, len(lines))
	delimiter, opened, ended := "", 0, -1
	for i, line := range lines {
		at := step{line: line, text: delimiter != ""}
		at.skip = !at.text && p.meansNothing(line)
		switch {
		case strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == keyDEL }):
			return nil, schema.Errorf(schema.CodeInvalid, "%s is not a single line of text.", lineName(lines, i)).
				WithHint("Send each line by itself, with blanks instead of tabs.")
		case at.skip:
		case ended >= 0:
			return nil, schema.Errorf(schema.CodeInvalid, "%s leaves configuration mode, so the lines after it would run as commands.",
				lineName(lines, ended)).WithHint("Leave out the `end`, and run commands by themselves.")
		case at.text:
			if strings.Contains(line, delimiter) {
				delimiter = ""
			}
		case p.level(configLevel) != nil && strings.EqualFold(strings.TrimSpace(line), "end"):
			ended = i
		default:
			delimiter, opened = p.openedBlock(line), i
		}
		at.open = delimiter != ""
		steps[i] = at
	}
	if delimiter != "" {
		return nil, schema.Errorf(schema.CodeInvalid, "%s opens a text that no later line ends with %q.", lineName(lines, opened), delimiter)
	}
	return steps, nil
}

// meansNothing tells whether the line is blank or a comment.
func (p *platform) meansNothing(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || slices.ContainsFunc(p.Comment, func(start string) bool { return strings.HasPrefix(line, start) })
}

// openedBlock gives the delimiter of the text block that the line opens and doesn't close, "" when it opens none. `^C` is
// how a device writes the control character, and counts as one.
func (p *platform) openedBlock(line string) string {
	if p.textBlock == nil {
		return ""
	}
	parts := p.textBlock.FindStringSubmatch(line)
	if parts == nil {
		return ""
	}
	text := cmp.Or(parts[1:]...)
	_, size := utf8.DecodeRuneInString(text)
	delimiter := text[:size]
	if strings.HasPrefix(text, "^C") {
		delimiter = "^C"
	}
	if strings.Contains(text[len(delimiter):], delimiter) {
		return ""
	}
	return delimiter
}

// lineName is how messages call a line, with what may be a secret left out.
func lineName(lines []string, i int) string {
	const width = 80
	line := []rune(maskSecret(strings.TrimSpace(lines[i])))
	if len(line) > width {
		line = append(line[:width], '…')
	}
	return fmt.Sprintf("Line %d of %d: `%s`", i+1, len(lines), string(line))
}

// secretPattern is what precedes a secret in a configuration line.
var secretPattern = regexp.MustCompile(`(?i)\b(password|secret|passphrase|community|key|key-string|md5|psk|pre-shared-key)\s+\S.*`)

// maskSecret leaves out what may be a secret in a line of text.
func maskSecret(line string) string { return secretPattern.ReplaceAllString(line, "$1 …") }
