package demomodel

import (
	"fmt"
	"regexp"
	"strings"
)

// diffBegins stands in a change's result before the difference of the running configurations, a unified diff.
const diffBegins = "What changed in the running configuration:\n"

const maxChanged = 40 // lines of a difference

// restless are lines of a running configuration that differ without anybody having changed them.
var restless = regexp.MustCompile(`^(?:!|Building configuration|Current configuration|ntp clock-period)`)

// verdict is what a result says of a call that never ran to an end, without its advice to the model.
func verdict(err string) string {
	for _, advice := range []string{newArguments, "Propose another way, or ask."} {
		err, _, _ = strings.Cut(err, advice)
	}
	return strings.TrimSpace(err)
}

// describeChange tells what became of a change of one device.
//
// Nothing of it comes from the request: what changed is the difference that the tool saw on the device.
func (t turn) describeChange(tool string, it item) string {
	said, diff, _ := strings.Cut(it.output, diffBegins)
	changed := changedLines(diff)
	block := "\n```diff\n" + strings.Join(changed, "\n") + "\n```"
	if it.failed { // the error has the line that failed and the device's words
		text := "- " + it.name + " failed: " + strings.TrimSpace(it.err)
		if len(changed) > 0 {
			text += "\n  What changed all the same:" + block
		}
		return text
	}
	text := "- " + it.name + ": done."
	if printed := quote(strings.Join(sections(said, t.commandsOf(it.name)), "\n")); len(printed) > 0 {
		text += " The device said:" + printed[0] + "\n " // what follows can't stand on the line that ends a code block
	}
	switch {
	case len(changed) > 0:
		text += " What changed:" + block
	case diff != "":
		text += " The running configuration is the same as before."
	case tool == configTool:
		text += " The result shows no difference of the running configuration."
	}
	return strings.TrimRight(text, "\n ")
}

// changedLines are the lines that a unified diff takes out and puts in, each indented one under the section that it is in.
func changedLines(diff string) []string {
	var out []string
	section, left, inside := "", 0, false
	for _, line := range lines(diff) {
		if strings.HasPrefix(line, "@@") {
			section, inside = "", true
			continue
		}
		if !inside || line == "" {
			continue
		}
		text := strings.TrimRight(line[1:], " ")
		indented := strings.HasPrefix(text, " ")
		switch {
		case line[0] != '+' && line[0] != '-':
			if !indented {
				section = text
			}
			continue
		case text == "" || restless.MatchString(text):
			continue
		case len(out) >= maxChanged:
			left++
			continue
		}
		if indented && section != "" && section != "!" {
			out = append(out, " "+section)
		}
		section = ""
		out = append(out, line[:1]+text)
	}
	if left > 0 {
		out = append(out, fmt.Sprintf(" … %d more lines", left))
	}
	return out
}
