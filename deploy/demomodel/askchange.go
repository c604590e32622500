package demomodel

import (
	"regexp"
	"slices"
	"strings"
)

const (
	maxChange    = 1 << 10 // bytes of a request that is read as a change
	maxListWords = 16      // words of a list of devices
)

var (
	polite = regexp.MustCompile(`(?i)^(?:(?:please|kindly|(?:can|could|would|will) you|i(?:'d| would) like (?:you )?to|i want (?:you )?to|` +
		`let's|now|also|and)[\s,]+)+`)
	dictated = regexp.MustCompile(`(?i)^(?:configure|config|apply|push|set|add|enter)(?:[ ,:]+(?:and|with|in|the|this|these|following|lines?|` +
		`commands?|configuration|config|mode|[` + string(quoteFirst) + `-` + string(quoteLast) + `]))+$`)
)

// reading is a way to read a request: the devices, and the words that are left without them.
type reading struct {
	on   []entity
	rest string
}

// readChange reads a request to configure something. The devices may stand nearly anywhere in it, and a name may be a value
// ("set the hostname of R1 to R9"), so each way to take devices out is tried until the rest has one of the forms.
func readChange(part string, quotes []string, t topology) (ask, bool) {
	part = plainTail.ReplaceAllString(strings.TrimRight(polite.ReplaceAllString(part, ""), " .,:;!"), "")
	if len(part) > maxChange {
		return ask{}, false
	}
	for _, r := range readings(part, t) {
		for _, f := range forms {
			if c, ok := f.match(r.rest, quotes); ok {
				return ask{on: r.on, change: &c}, true
			}
		}
		if lines := quotedLines(r.rest, quotes); len(lines) > 0 && dictated.MatchString(r.rest) {
			c := asGiven(lines)
			return ask{on: r.on, change: &c}, true
		}
	}
	return ask{}, false
}

// quotedLines are the quoted commands, of which one quotation may hold several lines.
func quotedLines(part string, quotes []string) []string {
	var all []string
	for _, q := range quotedIn(part, quotes) {
		for line := range strings.Lines(q) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
}

// readings gives the likeliest first: devices after "on", after other prepositions, at the beginning or behind the verb. There
// may be none where no preposition but "to" introduces one.
func readings(part string, t topology) []reading {
	words := strings.Fields(part)
	var all []reading
	introduced := false
	take := func(preposition string, from, list int) bool {
		on, used := devicesAt(words[list:], preposition, t)
		if used > 0 {
			rest := slices.Concat(words[:from], words[list+used:])
			all = append(all, reading{on: on, rest: strings.Trim(strings.Join(rest, " "), " ,:")})
		}
		return used > 0
	}
	for _, rank := range [][]string{{"on"}, {"of", "for", "from", "at", "in"}, {"to"}} {
		for i, w := range words {
			if w = strings.ToLower(w); slices.Contains(rank, w) {
				introduced = take(w, i, i+1) && w != "to" || introduced
			}
		}
	}
	const verb = 2 // words, such as "shut down"
	for i := range min(verb+1, len(words)) {
		take("", i, i)
	}
	if !introduced {
		all = append(all, reading{rest: strings.Join(words, " ")})
	}
	return all
}

// devicesAt reads the longest list of devices that words begin with, and how many of them it takes.
func devicesAt(words []string, preposition string, t topology) (on []entity, used int) {
	for n := 1; n <= min(maxListWords, len(words)); n++ {
		found, whole := deviceList(strings.Join(words[:n], " "), t)
		if len(found) > 1 {
			preposition = "" // "on R1, shut …" is no list
		}
		if whole && len(found) > 0 && !slices.Equal(found, on) && trusted(preposition, found, t) {
			on, used = found, n
		}
	}
	return on, used
}
