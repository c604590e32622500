package ios

import (
	"fmt"
	"slices"
	"strings"
)

// help answers "?": the words that may stand here, or those that begin with the unfinished one.
func (s *shell) help(typed string) string {
	tokens := scan(typed)
	unfinished := ""
	if len(tokens) > 0 && !strings.HasSuffix(typed, " ") {
		unfinished = strings.ToLower(tokens[len(tokens)-1].text)
		tokens = tokens[:len(tokens)-1]
	}
	set, l := s.r.grammar.exec, s.level()
	switch {
	case s.configuring() && len(tokens) > 0 && strings.EqualFold(tokens[0].text, "do"):
		tokens = tokens[1:]
	case s.configuring():
		set = s.r.grammar.config
		if s.mode == modeInterface {
			set = append(slices.Clone(s.r.grammar.configIf), set...)
		}
		if len(tokens) > 0 && strings.EqualFold(tokens[0].text, "no") {
			tokens = tokens[1:]
		}
	}
	p := parse(set, typed, tokens, l)
	if p.problem != fine {
		return "% Unrecognized command\n"
	}
	if p.leaf != nil {
		set = p.leaf.next
	}
	return list(set, l, unfinished, p.leaf != nil && p.leaf.ends() && unfinished == "")
}

// list writes the choices: words alone when one is being typed, with explanations otherwise.
func list(set []*node, l level, unfinished string, mayEnd bool) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, n := range set {
		label := n.word
		if n.arg != nil {
			label = n.arg.label
		}
		if n.level > l || seen[label] || !strings.HasPrefix(n.word, unfinished) {
			continue
		}
		seen[label] = true
		if unfinished != "" {
			b.WriteString(label + "  ")
		} else {
			fmt.Fprintf(&b, "  %-18s %s\n", label, n.help)
		}
	}
	switch {
	case mayEnd:
		b.WriteString("  <cr>\n")
	case b.Len() == 0:
		return "% Unrecognized command\n"
	}
	return b.String() + "\n"
}
