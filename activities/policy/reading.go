package policy

import (
	"fmt"
	"strings"
)

// judgeReading finds what makes a line more than reading.
func (p *platform) judgeReading(line string) []finding {
	if why := p.notReading(strings.ToLower(strings.ReplaceAll(line, "\t", " "))); why != "" {
		return []finding{about(changes, line, "", why)}
	}
	return nil
}

// notReading says why a line may do more than read; it is empty for a line that only reads.
func (p *platform) notReading(line string) string {
	// What ends a command on a shell, and what writes a file on several systems.
	if i := strings.IndexAny(line, ";>"+strings.ReplaceAll(p.Separators, "|", "")); i >= 0 {
		return fmt.Sprintf("may do more than read: it has %q in it", line[i:i+1])
	}
	command, filters, piped := strings.Cut(line, "|")
	words := strings.Fields(command)
	if len(words) == 0 || !p.Reading.have(words[0]) {
		return "may change the device: it is not one of the commands that only read"
	}
	if !piped {
		return ""
	}
	for _, filter := range p.chain(filters) {
		if words := strings.Fields(filter); len(words) == 0 || !p.Filters.have(words[0]) {
			return "may write a file: it has something other than a filter after the |"
		}
	}
	return ""
}

// chain splits what follows the first | at the others. On a platform that doesn't separate with it, a | inside a word is part of a
// regular expression.
func (p *platform) chain(filters string) []string {
	if strings.Contains(p.Separators, "|") {
		return strings.Split(filters, "|")
	}
	var all []string
	start := 0
	for i := range len(filters) {
		inside := i > 0 && i+1 < len(filters) && filters[i-1] != ' ' && filters[i+1] != ' '
		if filters[i] == '|' && !inside {
			all = append(all, filters[start:i])
			start = i + 1
		}
	}
	return append(all, filters[start:])
}
