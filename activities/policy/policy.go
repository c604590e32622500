// Package policy decides what a command may do, from its text alone: pure functions over data, so that a verdict can be
// explained, tested as a table and recorded.
//
// The data is policy.yaml, or a file of the same form. A command is normalised before it is matched: case, blanks, abbreviations,
// wrappers such as `do`, look-alike and invisible characters, several commands in one line, several lines in one string. What the
// policy isn't sure of needs approval; it never lets pass what it can't read.
//
// Files: lines.go (from strings to lines), load.go and pattern.go (the file), characters.go and judge.go (one line),
// reading.go (what only reads).
package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gns3copilot/schema"
)

// Action is what becomes of a call.
type Action string

// The actions, from the most lenient on.
const (
	Allow   Action = "allow"
	Approve Action = "approve" // a person has to confirm it first
	Refuse  Action = "refuse"  // it isn't even offered to a person
)

// Level is how dangerous a call is that needs approval; it is empty for the others.
type Level = schema.Danger

// The levels that a verdict has.
const (
	None   Level = ""
	Medium Level = schema.DangerMedium
	High   Level = schema.DangerHigh // needs a second confirmation
)

// Reason is one thing that made a verdict what it is.
type Reason struct {
	Line    string `json:"line,omitempty"`    // as the device would get it; empty when the reason is about the call
	Pattern string `json:"pattern,omitempty"` // of the policy file; empty when no pattern but a rule was met
	Why     string `json:"why"`               // a sentence for the person who decides
}

// Verdict is what the policy says about the commands for one device. An allowed call has no reasons.
type Verdict struct {
	Action  Action   `json:"action"`
	Level   Level    `json:"level,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
}

// Error gives the reasons of a refusal as CodeRefused, and nil for any other verdict.
func (v Verdict) Error() error {
	if v.Action != Refuse {
		return nil
	}
	var whys []string
	for _, r := range v.Reasons {
		whys = append(whys, r.Why)
	}
	return schema.Errorf(schema.CodeRefused, "Nothing was sent. %s", strings.Join(whys, " "))
}

// Policy is a loaded policy file. It is never changed, so any number of goroutines may use it.
type Policy struct {
	tools map[string]bool
	// dangerTools are those of them that are of high danger, each with the reason.
	dangerTools map[string]string
	platforms   []*platform
	byName      map[string]*platform
}

// NeedsApproval tells whether a tool needs approval whatever its arguments are. For a tool that sends commands and isn't one of
// those, Commands decides.
func (p *Policy) NeedsApproval(tool string) bool { return p.tools[tool] }

// Tool judges a call by its tool alone: what changes the lab itself has no lines that could be looked at. Only tools that always need
// approval are judged.
func (p *Policy) Tool(name string) Verdict {
	if !p.tools[name] {
		return Verdict{Action: Allow}
	}
	why, high := p.dangerTools[name]
	if !high {
		return Verdict{Action: Approve, Level: Medium, Reasons: []Reason{{Why: "This needs a human's word, whatever it is about."}}}
	}
	return Verdict{Action: Approve, Level: High, Reasons: []Reason{{Pattern: name, Why: why}}}
}

// Commands judges what a reading tool, or the tool for VPCS, is asked to send to a device: reading only is allowed, anything else
// needs approval at a level, and what is forbidden or can't be sent honestly is refused. Platform is what the lab calls the device's
// platform (cisco_ios_telnet, vpcs, …); an unknown or empty one gets the strictest rules.
func (p *Policy) Commands(platform string, commands []string) Verdict {
	return p.judge(platform, commands, true)
}

// Configuration judges lines for the configuration tool, which need approval at least at medium level.
func (p *Policy) Configuration(platform string, commands []string) Verdict {
	return p.judge(platform, commands, false)
}

// WithForbidden gives a copy of the policy that has, on every platform, the forbidden commands of a list in place of its own: one
// pattern a line, # for comments. A line that is no pattern is reported as CodeInvalid, all of them at once.
func (p *Policy) WithForbidden(list string) (*Policy, error) {
	forbidden, err := readForbidden(list)
	if err != nil {
		return nil, err
	}
	return p.forbidding(func(reasons) reasons { return forbidden }), nil
}

// AlsoForbidden is WithForbidden with the policy's own forbidden commands kept beside those of the list.
func (p *Policy) AlsoForbidden(list string) (*Policy, error) {
	forbidden, err := readForbidden(list)
	if err != nil {
		return nil, err
	}
	return p.forbidding(func(own reasons) reasons { return slices.Concat(own, forbidden) }), nil
}

// ForbiddenPatterns counts the different patterns of what is never sent, on any platform.
func (p *Policy) ForbiddenPatterns() int {
	different := map[string]bool{}
	for _, rules := range p.platforms {
		for _, one := range rules.Forbidden {
			different[one.text] = true
		}
	}
	return len(different)
}

func readForbidden(list string) (reasons, error) {
	var forbidden reasons
	var faults []string
	for i, line := range strings.Split(list, "\n") {
		line, _, _ = strings.Cut(strings.ReplaceAll(line, "\t", " "), " #")
		line = strings.ToLower(strings.TrimSpace(line))
		if line == "" || line[0] == '#' {
			continue
		}
		parsed, err := parsePattern(line)
		if err == nil {
			err = matchless(line)
		}
		if err != nil {
			faults = append(faults, fmt.Sprintf("line %d: %#q %v", i+1, line, err))
		}
		parsed.why = "is in the list of forbidden commands of this server's skills"
		forbidden = append(forbidden, parsed)
	}
	if faults != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "The list of forbidden commands has %d fault(s): %s.", len(faults), strings.Join(faults, "; "))
	}
	return forbidden, nil
}

// matchless fails for a line of a list that is a pattern by its form, but one that no command can fit: whoever wrote it would believe
// something forbidden that isn't. Its error completes a sentence that begins with the line.
func matchless(line string) error {
	const quotes = "\"'`\\"
	plain := strings.TrimSpace(strings.TrimLeft(strings.Map(func(r rune) rune {
		if strings.ContainsRune(quotes, r) {
			return -1
		}
		return r
	}, line), "- "))
	plain = cmp.Or(plain, "a command")
	switch {
	case strings.Contains(line, ";"):
		return errors.New("has a ; in it, at which commands are parted before they are matched: write each command on a line of its own")
	case line[0] == '-':
		return fmt.Errorf("begins with -, as no command does: write %s", plain)
	case strings.ContainsAny(line, quotes):
		return fmt.Errorf("has a quote or a backslash in it, with which no command is matched: write %s", plain)
	}
	return nil
}

// forbidding gives a copy of the policy whose platforms forbid what list makes of what they forbid now.
func (p *Policy) forbidding(list func(own reasons) reasons) *Policy {
	fresh := map[*platform]*platform{}
	q := &Policy{tools: p.tools, byName: maps.Clone(p.byName)}
	for _, old := range p.platforms {
		rules := *old
		rules.Forbidden = list(old.Forbidden)
		fresh[old] = &rules
		q.platforms = append(q.platforms, &rules)
	}
	for name, old := range q.byName {
		q.byName[name] = fresh[old]
	}
	return q
}

// rank orders what can be said about a line.
type rank int

const (
	changes rank = iota + 1
	dangerous
	refused
)

type finding struct {
	rank   rank
	reason Reason
}

func (p *Policy) judge(name string, commands []string, reading bool) Verdict {
	rules, known := p.rules(name)
	base := p.byName[fallback] // says what reading is
	if known {
		base = rules[0]
	}
	var found []finding
	empty := true
	var text textBlock
	for _, line := range split(commands) {
		inText := !reading && known && base.TextBlocks && text.inside(line)
		for _, r := range rules {
			one := r.judge(line)
			if inText {
				one = asText(one)
			}
			found = append(found, one...)
		}
		if known && base.isComment(line) { // what is a comment on one platform runs programs on another
			continue
		}
		empty = false
		if reading {
			found = append(found, base.judgeReading(line)...)
		}
	}
	switch {
	case empty:
		found = append(found, finding{refused, Reason{Why: "There is no command in it."}})
	case !reading && len(found) == 0:
		found = append(found, finding{changes, Reason{Why: "Configuration changes the device."}})
	}
	return verdict(found)
}

// rules gives the rules of a platform, or for an unknown one those of all that it might be.
func (p *Policy) rules(name string) (rules []*platform, known bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, ending := range []string{"", "_telnet", "_ssh", "_serial"} {
		if r := p.byName[strings.TrimSuffix(name, ending)]; r != nil {
			return []*platform{r}, true
		}
	}
	for _, r := range p.platforms {
		if !r.NeverUntagged {
			rules = append(rules, r)
		}
	}
	return rules, false
}

// verdict sums findings up. A reason that only says what a graver one about the same line says better is left out.
func verdict(found []finding) Verdict {
	worst := rank(0)
	byLine := map[string]rank{}
	for _, f := range found {
		worst = max(worst, f.rank)
		byLine[f.reason.Line] = max(byLine[f.reason.Line], f.rank)
	}
	v := Verdict{Action: Allow}
	switch worst {
	case refused:
		v.Action = Refuse
	case dangerous:
		v.Action, v.Level = Approve, High
	case changes:
		v.Action, v.Level = Approve, Medium
	}
	for _, f := range found {
		same := func(r Reason) bool { // two platforms can have a pattern and different words for it
			return r == f.reason || r.Line == f.reason.Line && r.Pattern != "" && r.Pattern == f.reason.Pattern
		}
		if f.rank == byLine[f.reason.Line] && !slices.ContainsFunc(v.Reasons, same) {
			v.Reasons = append(v.Reasons, f.reason)
		}
	}
	return v
}
