package ios

import (
	"fmt"
	"slices"
	"strings"
)

// choice is what may stand where a line is being typed.
type choice struct {
	set    []*node
	begun  string // the beginning of the word that is being typed; "" after a blank
	mayEnd bool   // the line may end here
	mayCut bool   // an output filter may follow
	// negated says that "no" or "default" stands before: what has no opposite is left out.
	negated bool
}

// help answers "?": the words that may stand here, or those that begin with the unfinished one.
func (s *shell) help(typed string) string {
	c, trouble := s.choices(typed)
	text := c.list(s.level())
	switch {
	case trouble == ambiguous:
		return fmt.Sprintf("%% Ambiguous command:  \"%s\"\n", typed)
	case trouble != fine, text == "":
		return "% Unrecognized command\n"
	}
	return text + "\n"
}

// offer is a line of help.
type offer struct{ label, help string }

// offers are the choices in the order of IOS: capital letters before small ones, and the ends of a line last.
func (c choice) offers(l level) []offer {
	var all []offer
	for _, n := range c.set {
		if n.level > l || n.unlisted || c.negated && !n.negatable() {
			continue
		}
		for _, label := range n.labels(c.begun) {
			all = append(all, offer{label, n.help})
		}
	}
	slices.SortStableFunc(all, func(a, b offer) int { return strings.Compare(a.label, b.label) })
	all = slices.CompactFunc(all, func(a, b offer) bool { return a.label == b.label })
	if c.mayCut && strings.HasPrefix(pipeSign, c.begun) {
		all = append(all, offer{pipeSign, "Output modifiers"})
	}
	return all
}

// list writes the choices: words alone when one is being typed, with explanations otherwise, below each other.
func (c choice) list(l level) string {
	var b strings.Builder
	all := c.offers(l)
	width := 0
	for _, e := range all {
		width = max(width, len(e.label))
	}
	for _, e := range all {
		if c.begun != "" {
			b.WriteString(e.label + "  ")
		} else {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, e.label, e.help)
		}
	}
	switch {
	case c.mayEnd:
		b.WriteString("  <cr>\n")
	case c.begun != "" && b.Len() > 0:
		b.WriteString("\n")
	}
	return b.String()
}

// prefixes are the words that may stand before a command of a mode, as far as IOS lists them there.
func prefixes(m mode) []*node {
	no := group("no", "Negate a command or set its defaults")
	back := group("default", "Set a command to its defaults")
	switch m {
	case modeConfig:
		return []*node{back, group("do", "To run exec commands in config mode"), no}
	case modeVLAN:
		return []*node{no}
	}
	return []*node{back, no}
}

// choices gives what may follow what has been typed, or why nothing can.
func (s *shell) choices(typed string) (choice, problem) {
	tokens := scan(typed)
	begun := ""
	if len(tokens) > 0 && !strings.HasSuffix(typed, " ") {
		begun = strings.ToLower(tokens[len(tokens)-1].text)
		tokens = tokens[:len(tokens)-1]
	}
	switch {
	case !s.configuring():
		return s.execChoices(typed, tokens, begun)
	case len(tokens) > 0 && strings.EqualFold(tokens[0].text, "do"):
		return s.execChoices(typed, tokens[1:], begun)
	}
	negated := len(tokens) > 0 && (strings.EqualFold(tokens[0].text, "no") ||
		strings.EqualFold(tokens[0].text, "default") && !s.beginsGlobal(typed, tokens))
	if negated {
		tokens = tokens[1:]
	}
	c, trouble := s.follow(s.r.grammar.config[s.mode], typed, tokens, begun, negated)
	if len(tokens) == 0 && !negated {
		c.set = append(slices.Clone(c.set), prefixes(s.mode)...)
	}
	if s.mode != modeConfig && (trouble == invalid || begun != "" && c.list(privileged) == "") {
		// A command that only the global mode knows may be typed here, too.
		return s.follow(s.r.grammar.config[modeConfig], typed, tokens, begun, negated)
	}
	return c, trouble
}

// beginsGlobal reports whether a line that is being typed begins as a global command does.
func (s *shell) beginsGlobal(typed string, tokens []token) bool {
	return len(tokens) > 1 && parse(s.r.grammar.config[modeConfig], typed, tokens, privileged).problem == fine
}

// execChoices is choices in the exec modes, with the output filter.
func (s *shell) execChoices(typed string, tokens []token, begun string) (choice, problem) {
	command, pipe := splitPipe(tokens)
	if len(pipe) == 0 {
		return s.follow(s.r.grammar.exec, typed, command, begun, false)
	}
	p := parse(s.r.grammar.exec, typed, command, s.level())
	if p.problem != fine || p.leaf == nil || p.leaf.show == nil {
		return choice{}, invalid
	}
	return s.follow(filterTree(), typed, pipe[1:], begun, false)
}

// follow goes through a tree as far as whole words have been typed.
func (s *shell) follow(set []*node, typed string, tokens []token, begun string, negated bool) (choice, problem) {
	p := parse(set, typed, tokens, s.level())
	if last := len(tokens) - 1; p.problem == invalid && last >= 0 {
		return s.followApart(set, typed, tokens[:last], strings.ToLower(tokens[last].text)+" "+begun)
	}
	switch {
	case p.problem != fine:
		return choice{}, p.problem
	case p.leaf == nil:
		return choice{set: set, begun: begun, negated: negated}, fine
	case p.leaf.arg != nil && p.leaf.arg.greedy && begun != "":
		return choice{set: []*node{p.leaf}, begun: begun}, fine
	}
	c := choice{set: p.leaf.next, begun: begun, mayCut: p.leaf.show != nil, negated: negated}
	c.mayEnd = begun == "" && (negated && p.leaf.undo != nil || !negated && p.leaf.ends())
	return c, fine
}

// followApart is follow when the last word may be the first half of an argument; begun is both halves.
func (s *shell) followApart(set []*node, typed string, tokens []token, begun string) (choice, problem) {
	p := parse(set, typed, tokens, s.level())
	if p.problem != fine {
		return choice{}, invalid
	}
	if p.leaf != nil {
		set = p.leaf.next
	}
	set = slices.DeleteFunc(slices.Clone(set), func(n *node) bool { return n.arg == nil || !n.arg.apart || len(n.labels(begun)) == 0 })
	if len(set) == 0 {
		return choice{}, invalid
	}
	return choice{set: set, begun: begun}, fine
}

// complete answers Tab: it spells out the word being typed when there is only one that it can be.
func (s *shell) complete(typed string) string {
	if first := strings.ToLower(strings.TrimLeft(typed, " ")); s.configuring() && (first == "do" || first == "no") {
		return typed + " "
	}
	c, trouble := s.choices(typed)
	if trouble != fine || c.begun == "" || strings.Contains(c.begun, " ") {
		return typed
	}
	var found []string
	for _, n := range c.set {
		if n.arg != nil || n.level > s.level() || !strings.HasPrefix(n.word, c.begun) || slices.Contains(found, n.word) {
			continue
		}
		if n.word == c.begun {
			return typed + " "
		}
		found = append(found, n.word)
	}
	if len(found) != 1 {
		return typed
	}
	return typed[:len(typed)-len(c.begun)] + found[0] + " "
}
