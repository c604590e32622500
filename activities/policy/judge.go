package policy

import (
	"fmt"
	"slices"
	"strings"

	"gns3copilot/schema"
)

// platform is what the file says about one kind of device; policy.yaml explains the keys.
type platform struct {
	Aliases       []string `yaml:"aliases"`
	Comments      []string `yaml:"comments"`
	Separators    string   `yaml:"separators"`
	SevenBit      bool     `yaml:"seven-bit"`
	TextBlocks    bool     `yaml:"text-blocks"`
	QuestionMark  bool     `yaml:"question-mark"`
	NeverUntagged bool     `yaml:"never-untagged"`
	Reading       words    `yaml:"reading"`
	Filters       words    `yaml:"filters"`
	Text          words    `yaml:"text"`
	Wrappers      patterns `yaml:"wrappers"`
	Danger        reasons  `yaml:"danger"`
	Forbidden     reasons  `yaml:"forbidden"`
}

// judge finds all that is dangerous or forbidden about a line.
func (p *platform) judge(line string) []finding {
	var found []finding
	text := 0
	if !p.isComment(line) {
		found = p.match(line)
		text = p.textAt(line)
	}
	if why := p.unsendable(line); why != "" {
		found = append(found, about(refused, line, "", "can't be sent: it "+why))
	}
	if why := p.deceptive(line, text); why != "" {
		found = append(found, about(dangerous, line, "", why))
	}
	return found
}

// about makes a finding; what completes a sentence that begins with the line.
func about(r rank, line, pattern, what string) finding {
	line = strings.ReplaceAll(line, "\t", " ")
	return finding{r, Reason{line, pattern, fmt.Sprintf("%q %s.", schema.CutText(line, 200), what)}}
}

func (p *platform) isComment(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return slices.ContainsFunc(p.Comments, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

// match finds the patterns of the file in a line, each once. Whether a device takes a tab for a blank or for nothing, and a question
// mark too, depends on the device, so both are tried.
func (p *platform) match(line string) []finding {
	var found []finding
	seen := map[string]bool{}
	note := func(r rank, list reasons, command []string, what string) {
		if met, ok := list.first(command); ok && !seen[met.text] {
			seen[met.text] = true
			found = append(found, about(r, line, met.text, what+met.why))
		}
	}
	folded := fold(line)
	for _, instead := range []string{" ", ""} {
		form := strings.NewReplacer("\t", instead, "?", instead).Replace(folded)
		for _, command := range p.commands(form) {
			note(refused, p.Forbidden, command, "is never sent: it ")
			note(dangerous, p.Danger, command, "")
		}
		if form == folded {
			break
		}
	}
	return found
}

// first gives the first pattern that fits; the file has the more telling ones first.
func (r reasons) first(command []string) (pattern, bool) {
	for _, p := range r {
		if p.fits(command) {
			return p, true
		}
	}
	return pattern{}, false
}

// commands gives the words of every command that a folded line may hold: those between separators, and those inside wrappers.
func (p *platform) commands(line string) [][]string {
	var all [][]string
	for _, segment := range p.segments(line) {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(segment))
		seen := make([]bool, len(words)+1)
		starts := []int{0}
		for len(starts) > 0 {
			at := starts[0]
			starts = starts[1:]
			if seen[at] || at == len(words) {
				continue
			}
			seen[at] = true
			all = append(all, words[at:])
			for _, w := range p.Wrappers {
				for _, n := range take(w.words, words[at:], 0) {
					starts = append(starts, at+n)
				}
			}
		}
	}
	return all
}

// segments cuts a line at the platform's separators. Where the platform has none a semicolon counts, but for the free text at the end:
// somebody who writes one means several commands.
func (p *platform) segments(line string) []string {
	cut := func(s, at string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(at, r) })
	}
	if strings.Contains(p.Separators, ";") {
		return cut(line, p.Separators)
	}
	text := p.textAt(line)
	segments := cut(line[:text], ";"+p.Separators)
	if len(segments) == 0 {
		segments = []string{""}
	}
	segments[len(segments)-1] += line[text:]
	return segments
}

// textAt is where the free text of a line begins: after a word such as description, or after an output filter. It is the line's
// length when there is none.
func (p *platform) textAt(line string) int {
	filter := false
	at := 0
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' || r == '\t' }) {
		at += strings.Index(line[at:], word) + len(word)
		bar := strings.LastIndexByte(word, '|')
		if filter || bar >= 0 && bar < len(word)-1 {
			return at
		}
		filter = bar >= 0
		if p.Text.have(strings.ToLower(word)) {
			return at
		}
	}
	return len(line)
}

// have tells whether s is one of the words or abbreviates one.
func (w words) have(s string) bool {
	return slices.ContainsFunc(w, func(one word) bool { return one.abbreviates(s) })
}
