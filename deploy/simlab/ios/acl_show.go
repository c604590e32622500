package ios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// listConfig writes the access lists, named ones first.
func (r *Router) listConfig() string {
	var named, numbered strings.Builder
	for _, l := range r.sortedLists() {
		_, err := strconv.Atoi(l.name)
		if err != nil {
			fmt.Fprintf(&named, "ip access-list %s %s\n", kindOf(l), l.name)
		}
		for _, rule := range r.host.Rules(l.name) {
			if err == nil {
				fmt.Fprintf(&numbered, "access-list %s %s\n", l.name, rule.Text)
			} else {
				fmt.Fprintf(&named, " %s\n", rule.Text)
			}
		}
	}
	text := named.String() + numbered.String()
	if text != "" {
		text += "!\n"
	}
	return text
}

// sortedLists orders them as IOS does: by kind, numbers before names.
func (r *Router) sortedLists() []accessList {
	all := slices.Clone(r.lists)
	slices.SortStableFunc(all, func(a, b accessList) int {
		if a.extended != b.extended {
			if a.extended {
				return 1
			}
			return -1
		}
		an, aErr := strconv.Atoi(a.name)
		bn, bErr := strconv.Atoi(b.name)
		switch {
		case aErr == nil && bErr == nil:
			return an - bn
		case aErr == nil:
			return -1
		case bErr == nil:
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return all
}

// showLists is "show access-lists", of one list or of all.
func showLists(s *shell, a args) string {
	var b strings.Builder
	for _, l := range s.r.sortedLists() {
		if a["list"] != "" && a["list"] != l.name {
			continue
		}
		fmt.Fprintf(&b, "%s IP access list %s\n", strings.ToUpper(kindOf(l)[:1])+kindOf(l)[1:], l.name)
		for _, r := range s.r.host.Rules(l.name) {
			if r.Remark != "" {
				continue
			}
			text := r.Text
			if !l.extended && r.From.Address.IsValid() && !r.From.Wildcard.IsUnspecified() {
				text = strings.Replace(text, r.From.Address.String()+" ", r.From.Address.String()+", wildcard bits ", 1)
			}
			fmt.Fprintf(&b, "    %d %s", r.Sequence, text)
			switch {
			case r.Hits == 1:
				b.WriteString(" (1 match)")
			case r.Hits > 1:
				fmt.Fprintf(&b, " (%d matches)", r.Hits)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
