package policy

import (
	"fmt"
	"regexp"
	"strings"

	"gns3copilot/schema"
)

// bannerStart is a line that begins a text: what it ends with, and what stands behind that on the same line.
var bannerStart = regexp.MustCompile(`(?i)^\s*ban\w*\s+(?:(?:motd|login|exec|incoming|prompt-timeout|slip-ppp)\s+)?(\S)(.*)$`)

// textBlock follows the text of a banner over the lines of a change.
type textBlock struct{ end string }

// inside tells whether a line belongs to a text that an earlier one has begun.
func (b *textBlock) inside(line string) bool {
	if b.end != "" {
		if strings.Contains(line, b.end) {
			b.end = ""
		}
		return true
	}
	if m := bannerStart.FindStringSubmatch(line); m != nil && !strings.Contains(m[2], m[1]) {
		b.end = m[1]
	}
	return false
}

// asText lowers what is forbidden about a line of text to what humans must look at twice: where the text ends is the device's to say.
func asText(found []finding) []finding {
	for i := range found {
		if f := &found[i]; f.rank == refused && f.reason.Pattern != "" {
			f.rank = dangerous
			f.reason.Why = fmt.Sprintf("%q looks like the text of a banner; as a command it would never be sent.", schema.CutText(f.reason.Line, 200))
		}
	}
	return found
}
