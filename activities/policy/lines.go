package policy

import "strings"

// lineEnds are all that somebody may have meant as the end of a line. A device would take some of them as something else, so that
// none but the end itself is ever sent.
const lineEnds = "\r\n\u0085\u2028\u2029"

// Lines gives the lines that a device is to get for a list of commands, of which each may hold several. It is the one definition of
// a line: what is checked, shown to a person and sent must come from here. Lines of blanks alone are left out, for an Enter can answer
// a question; a tab, which asks a device to complete the word before it, becomes a blank; blanks at the end are cut.
func Lines(commands []string) []string {
	lines := split(commands)
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\t", " ")
	}
	return lines
}

// split is Lines with the tabs as they are, because a sender could forget to replace them.
func split(commands []string) []string {
	var lines []string
	for _, command := range commands {
		for line := range strings.FieldsFuncSeq(command, func(r rune) bool { return strings.ContainsRune(lineEnds, r) }) {
			if line = strings.TrimRight(line, " \t"); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
