package console

import (
	"regexp"
	"strings"
)

// truncatedName is how many characters of a long hostname IOS shows in its configuration prompts.
const truncatedName = 20

// What devices ask. A question stands unfinished at the end of what was received, and nothing follows it.
var (
	questionPattern = regexp.MustCompile(`(?i)(\[confirm\]|[\[(](yes|y)/(no|n)[\])]\s*[?:]*|[\[(](no|n)/(yes|y)[\])]\s*[?:]*` +
		`|\[[^\]]*\]\s*[?:]+|(password|passphrase|secret)\s*[?:])\s*$`)
	loginPattern   = regexp.MustCompile(`(?i)(login|user ?name|password|passcode|passphrase)\s*:\s*$`)
	confirmPattern = regexp.MustCompile(`(?i)\[confirm\]\s*$`)
	savePattern    = regexp.MustCompile(`(?i)configuration has been modified\. save\?`)
	// A line that only ends like a question becomes one when nothing follows for a good while.
	maybeQuestion = regexp.MustCompile(`[?:]\s*$`)
)

// What is met on the way to a prompt.
var (
	dialogPattern      = regexp.MustCompile(`(?i)initial configuration dialog\?.*\[yes/no\]:\s*$`)
	autoinstallPattern = regexp.MustCompile(`(?i)terminate autoinstall\?.*\[yes\]:\s*$`)
	setupPattern       = regexp.MustCompile(`(?i)(enter enable secret|confirm enable secret|enter enable password|enter your selection).*:\s*$`)
	loaderPattern      = regexp.MustCompile(`(?i)^(rommon ?\d* ?>|switch:|loader>|grub>)\s*$`)
)

// prompt is a device's own prompt, as learned: this name at the start of a line, a mode if any, the closing character,
// and nothing after it.
type prompt struct {
	name    string // the hostname as shown
	tail    string // blanks after the closing character
	pattern *regexp.Regexp
}

// promptParts takes a prompt apart: name, mode, closing character, blanks.
var promptParts = regexp.MustCompile(`^(.*?)(\([^()]{1,40}\))?([>#])( *)$`)

// learn makes the prompt from a line that is one. A hostname longer than 20 characters also matches cut short, which is
// how IOS shows it in its configuration modes; one of 20 characters in such a mode also matches any longer one.
func learn(line string) *prompt {
	parts := promptParts.FindStringSubmatch(line)
	if parts == nil {
		return nil
	}
	name := regexp.QuoteMeta(parts[1])
	switch n := len(parts[1]); {
	case n > truncatedName:
		name = "(?:" + name + "|" + regexp.QuoteMeta(parts[1][:truncatedName]) + ")"
	case n == truncatedName && parts[2] != "":
		name += `[\w.\-]*`
	}
	return &prompt{
		name:    parts[1],
		tail:    parts[4],
		pattern: regexp.MustCompile(`^` + name + `(\([^()]{1,40}\))?[>#]` + parts[4] + `$`),
	}
}

// matches tells whether the whole line is the prompt, in any mode.
func (p *prompt) matches(line string) bool {
	return p != nil && len(line) < 200 && p.pattern.MatchString(line)
}

// begins tells whether the line could be the first part of the prompt.
func (p *prompt) begins(line string) bool {
	if p == nil || line == "" || len(line) > len(p.name)+len(p.tail)+42 {
		return false
	}
	return strings.HasPrefix(p.name, line) || strings.HasPrefix(line, p.name) && !strings.Contains(line[len(p.name):], " ") ||
		p.matches(line)
}

// logStart gives where a message that the device prints on its own begins in the line, -1 when there is none. In front
// of it there may be only a part of what the message interrupted.
func (p *platform) logStart(line []byte) int {
	if p == nil || p.logLine == nil {
		return -1
	}
	at := p.logLine.FindIndex(line)
	if at == nil {
		return -1
	}
	return at[0]
}
