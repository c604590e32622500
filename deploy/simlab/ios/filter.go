package ios

import (
	"regexp"
	"strings"
)

// pipeSign stands between a command and its output filter.
const pipeSign = "|"

// splitPipe separates a command from its output filter.
func splitPipe(tokens []token) (command, pipe []token) {
	for i, t := range tokens {
		if t.text == pipeSign {
			return tokens[:i], tokens[i:]
		}
	}
	return tokens, nil
}

// filterTree is what may follow the bar.
func filterTree() []*node {
	kind := func(word, help string) *node {
		return group(word, help, asks(rest("pattern"), "Regular Expression").does(nothing))
	}
	return []*node{
		kind("begin", "Begin with the line that matches"), kind("exclude", "Exclude lines that match"),
		kind("include", "Include lines that match"), kind("section", "Filter a section of output"),
	}
}

// filter makes the function that an output filter such as "| include up" stands for.
func filter(line string, pipe []token) (func(string) string, parsed) {
	keepAll := func(text string) string { return text }
	if len(pipe) == 0 {
		return keepAll, parsed{}
	}
	if len(pipe) == 1 {
		return nil, parsed{problem: incomplete}
	}
	p := parse(filterTree(), line, pipe[1:], anyone)
	if p.problem != fine {
		return nil, p
	}
	if p.args["pattern"] == "" {
		return nil, parsed{problem: incomplete}
	}
	pattern, err := regexp.Compile(p.args["pattern"])
	if err != nil {
		pattern = regexp.MustCompile(regexp.QuoteMeta(p.args["pattern"]))
	}
	return map[byte]func(string) string{
		'b': func(text string) string { return begin(text, pattern) },
		'e': func(text string) string { return lines(text, func(l string) bool { return !pattern.MatchString(l) }) },
		'i': func(text string) string { return lines(text, pattern.MatchString) },
		's': func(text string) string { return section(text, pattern) },
	}[strings.ToLower(pipe[1].text)[0]], parsed{}
}

// lines keeps the lines that keep accepts.
func lines(text string, keep func(string) bool) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if keep(strings.TrimSuffix(l, "\n")) {
			b.WriteString(l)
		}
	}
	return b.String()
}

// begin drops what comes before the first match.
func begin(text string, pattern *regexp.Regexp) string {
	started := false
	return lines(text, func(l string) bool {
		started = started || pattern.MatchString(l)
		return started
	})
}

// section keeps matching lines and the indented ones below them.
func section(text string, pattern *regexp.Regexp) string {
	inside := false
	return lines(text, func(l string) bool {
		if !strings.HasPrefix(l, " ") {
			inside = pattern.MatchString(l)
		}
		return inside || pattern.MatchString(l)
	})
}
