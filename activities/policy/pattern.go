package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// pattern is the beginning of a command. policy.yaml explains how one is written.
type pattern struct {
	text  string // as the file has it
	why   string
	words []word
	ends  bool // nothing may follow
}

// word is one word of a pattern: one of any, glob and full.
type word struct {
	any      bool // any number of words
	glob     *regexp.Regexp
	full     string
	shortest int // how many letters an abbreviation has at least
}

// parsePattern reads a pattern; its error completes a sentence that begins with the pattern.
func parsePattern(text string) (pattern, error) {
	p := pattern{text: text}
	// Only blanks part words: a carriage return or another end of a line would make one long pattern of two, which fits nothing.
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if n := len(fields); n > 1 && fields[n-1] == "$" {
		p.ends, fields = true, fields[:n-1]
	}
	jokers := 0
	for _, field := range fields {
		w, err := parseWord(field)
		if err != nil {
			return pattern{}, err
		}
		if w.any {
			jokers++
		}
		p.words = append(p.words, w)
	}
	switch {
	case len(fields) == 0:
		return pattern{}, errors.New("has no words")
	case jokers > 1:
		return pattern{}, errors.New("has more than one *")
	case p.words[0].any:
		return pattern{}, errors.New("begins with *, which would fit everywhere")
	}
	return p, nil
}

func parseWord(s string) (word, error) {
	for _, r := range s {
		if r <= ' ' || r > '~' || r >= 'A' && r <= 'Z' {
			return word{}, fmt.Errorf("has %q in it: patterns are plain ASCII in small letters", r)
		}
	}
	if s == "*" {
		return word{any: true}, nil
	}
	if strings.ContainsAny(s, "*?") {
		expression := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(s))
		return word{glob: regexp.MustCompile("^" + expression + "$")}, nil
	}
	need, rest, optional := strings.Cut(s, "(")
	rest, closed := strings.CutSuffix(rest, ")")
	switch {
	case strings.ContainsAny(need+rest, "()$") || optional != closed || need == "":
		return word{}, fmt.Errorf("has the word %q, which is not of the form word, wo(rd) or word()", s)
	case optional:
		return word{full: need + rest, shortest: len(need)}, nil
	}
	return word{full: s, shortest: 1}, nil
}

// abbreviates tells whether s is the word or a permitted abbreviation of it.
func (w word) abbreviates(s string) bool {
	return len(s) >= w.shortest && strings.HasPrefix(w.full, s)
}

// fits is abbreviates for a word that may be dangerous, so it is generous: an option can stick to a command (delete/force), and a
// command can be called by its path.
func (w word) fits(s string) bool {
	if w.glob != nil {
		return w.glob.MatchString(s)
	}
	before, _, _ := strings.Cut(s, "/")
	return w.abbreviates(s) || w.abbreviates(before) || w.abbreviates(s[strings.LastIndexByte(s, '/')+1:])
}

// fits tells whether the words begin as the pattern says.
func (p pattern) fits(words []string) bool {
	for _, n := range take(p.words, words, 0) {
		if !p.ends || n == len(words) {
			return true
		}
	}
	return false
}

// take gives, for each way in which the words begin as wanted, how many of them that takes; used is added to each.
func take(want []word, words []string, used int) []int {
	if len(want) == 0 {
		return []int{used}
	}
	if want[0].any {
		var all []int
		for n := range len(words) + 1 {
			all = append(all, take(want[1:], words[n:], used+n)...)
		}
		return all
	}
	if len(words) == 0 || !want[0].fits(words[0]) {
		return nil
	}
	return take(want[1:], words[1:], used+1)
}
