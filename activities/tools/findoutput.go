package tools

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	linesAround = 2       // how many lines are shown before and behind one that is found
	mostLine    = 1 << 10 // how much of a line is shown, in bytes
	roomToTell  = 200     // for what is said about the lines, in bytes
)

// textLine is a line of a text, or a part of a long one.
type textLine struct {
	at    int // the byte where it begins
	text  string
	found bool // it contains the text that is looked for
}

// find gives the lines from a place on that contain a text, in upper or lower case, with lines around them, as grep does: each with the byte
// where it begins, those that were found with a colon. It gives as many as fit into so many bytes, and says where to go on.
func find(text, search string, from, length int) string {
	lines := linesOf(text[from:], from, strings.Map(lowerInPlace, search))
	var out strings.Builder
	shown, hits, next := 0, 0, -1
	last := -1 // the last line that is written
	for i, l := range lines {
		if !l.found {
			continue
		}
		hits++
		if next >= 0 {
			continue
		}
		var group strings.Builder
		begin := max(last+1, i-linesAround)
		if begin > last+1 && last >= 0 {
			group.WriteString("--\n")
		}
		end := behind(lines, i)
		for k := begin; k <= end; k++ {
			group.WriteString(lines[k].String())
		}
		if shown > 0 && out.Len()+group.Len() > length-roomToTell {
			next = l.at
			continue
		}
		out.WriteString(group.String())
		shown++
		last = end
	}
	told := fmt.Sprintf("[Lines with this text from byte %d on, of %d bytes: %d.", from, len(text), hits)
	if next >= 0 {
		told += fmt.Sprintf(" The first %d are shown, the next one begins at %d.", shown, next)
	}
	return told + "]\n" + out.String()
}

// behind is the last line that is shown with the one that is found: the next find shows its own lines before it.
func behind(lines []textLine, hit int) int {
	end := hit
	for end < len(lines)-1 && end < hit+linesAround && !lines[end+1].found {
		end++
	}
	return end
}

// linesOf splits a text that begins at a byte. search is in lower case.
func linesOf(text string, at int, search string) []textLine {
	var lines []textLine
	for l := range strings.Lines(text) {
		lines = append(lines, partsOf(strings.TrimRight(l, "\r\n"), at, search)...)
		at += len(l)
	}
	return lines
}

// partsOf gives a line as it is shown: whole, or of a long one what is around each place where the text is found, else its beginning.
func partsOf(line string, at int, search string) []textLine {
	lower := strings.Map(lowerInPlace, line)
	if len(line) <= mostLine {
		return []textLine{{at: at, text: line, found: strings.Contains(lower, search)}}
	}
	var parts []textLine
	for from := 0; from < len(line); {
		hit := strings.Index(lower[from:], search)
		if hit < 0 {
			break
		}
		hit += from
		begin := runeStart(line, max(from, hit-mostLine/2))
		end := runeStart(line, min(len(line), max(begin+mostLine, hit+len(search))))
		parts = append(parts, textLine{at: at + begin, text: dotted(line, begin, end), found: true})
		from = end
	}
	if parts == nil {
		parts = append(parts, textLine{at: at, text: dotted(line, 0, runeStart(line, mostLine))})
	}
	return parts
}

// lowerInPlace keeps a letter whose lower one has another length: places in both texts have to be the same.
func lowerInPlace(r rune) rune {
	if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
		return l
	}
	return r
}

// dotted is a part of a line that shows where it goes on.
func dotted(line string, begin, end int) string {
	text := line[begin:end]
	if begin > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}

func (l textLine) String() string {
	mark := "-"
	if l.found {
		mark = ":"
	}
	return fmt.Sprintf("%d%s %s\n", l.at, mark, l.text)
}
