package demomodel

import (
	"strings"
	"unicode"
)

// Quoted commands are replaced by characters of this range, so that nothing inside them is taken for words of the request.
const (
	quoteFirst = '\uE000'
	quoteLast  = '\uE0FF'
)

// closing gives the end that belongs to the beginning of a quotation.
func closing(open rune) rune {
	switch open {
	case '"', '`', '\'':
		return open
	case '“':
		return '”'
	case '‘':
		return '’'
	}
	return 0
}

// liftQuotes takes the quoted commands out of a text. A quoted device, address or interface stays where it is, without its quotes.
func liftQuotes(text string, t topology) (string, []string) {
	var out strings.Builder
	var quotes []string
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		end := quoteEnd(runes, i)
		if end < 0 {
			out.WriteRune(runes[i])
			continue
		}
		inner := strings.TrimSpace(string(runes[i+1 : end]))
		_, device := knownDevice(inner, t)
		_, isAddress := address(inner)
		if device || isAddress || interfaceLike.MatchString(inner) || inner == "" || len(quotes) > quoteLast-quoteFirst {
			out.WriteString(inner)
		} else {
			out.WriteRune(quoteFirst + rune(len(quotes)))
			quotes = append(quotes, inner)
		}
		i = end
	}
	return out.String(), quotes
}

// quoteEnd finds where the quotation that begins at i ends, -1 if none begins there. Apostrophes stand inside words and are none.
func quoteEnd(runes []rune, i int) int {
	end := closing(runes[i])
	if end == 0 || (i > 0 && isWordRune(runes[i-1])) {
		return -1
	}
	for j := i + 1; j < len(runes); j++ {
		if runes[j] == end && (j+1 == len(runes) || !isWordRune(runes[j+1])) {
			return j
		}
	}
	return -1
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// quotedIn gives the commands that were quoted in a part of the text.
func quotedIn(part string, quotes []string) []string {
	var commands []string
	for _, r := range part {
		if r >= quoteFirst && r <= quoteLast && int(r-quoteFirst) < len(quotes) {
			commands = append(commands, quotes[r-quoteFirst])
		}
	}
	return commands
}

// withQuotes puts the quoted texts back, without their quotes.
func withQuotes(part string, quotes []string) string {
	var out strings.Builder
	for _, r := range part {
		if r >= quoteFirst && r <= quoteLast && int(r-quoteFirst) < len(quotes) {
			out.WriteString(quotes[r-quoteFirst])
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func withoutQuotes(part string) string {
	return strings.Map(func(r rune) rune {
		if r >= quoteFirst && r <= quoteLast {
			return ' '
		}
		return r
	}, part)
}
