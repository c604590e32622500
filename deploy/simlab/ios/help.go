package ios

import (
	"fmt"
	"strings"
)

// help answers "?": the words that may stand here, or those that begin with the unfinished one.
func (s *shell) help(typed string) string {
	set, last, unfinished, ok := s.choices(typed)
	if !ok {
		return "% Unrecognized command\n"
	}
	return list(set, s.level(), unfinished, last != nil && last.ends() && unfinished == "")
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
