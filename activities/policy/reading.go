// Package policy decides what a command may do, from its text alone: pure functions over data, so that a verdict can be
// explained, tested as a table and recorded.
package policy

import (
	"strings"
	"unicode"

	"gns3copilot/schema"
)

// readingVerbs are the commands that only read, each with the shortest spelling that no platform takes for something else: `dis` is
// Cisco's disable or disconnect as well as Huawei's display, so display needs one letter more.
var readingVerbs = []struct{ word, shortest string }{
	{"show", "sh"},
	{"display", "disp"},
	{"ping", "pi"},
	{"traceroute", "tr"},
	{"tracert", "tr"},
	{"trace", "tr"},
	{"dir", "dir"},
	{"arp", "arp"},
	{"version", "vers"},
}

// readingFilters are what may stand behind a pipe; redirect, tee and append write files.
var readingFilters = []struct{ word, shortest string }{
	{"include", "i"},
	{"exclude", "e"},
	{"begin", "b"},
	{"section", "s"},
	{"count", "c"},
	{"grep", "grep"},
	{"match", "match"},
	{"no-more", "no-more"},
}

// Reading tells whether a command does nothing but read, ping or trace. What it can't be sure of it refuses with CodeRefused and a
// message that gives the reason.
func Reading(command string) error {
	if strings.ContainsAny(command, "\r\n") {
		return refuse(command, "it has several lines")
	}
	for _, r := range command {
		switch {
		case r == '?':
			return refuse(command, "a question mark asks the device for help and leaves the line unfinished")
		case r == ';':
			return refuse(command, "it holds several commands")
		case r == '\t' || r == ' ':
		case !unicode.IsPrint(r):
			return refuse(command, "it has invisible characters")
		}
	}
	head, pipes, piped := strings.Cut(command, "|")
	verb := firstWord(head)
	if verb == "" {
		return refuse(command, "it is empty")
	}
	if !known(verb, readingVerbs) {
		return refuse(command, "it isn't a show, display, ping, traceroute or dir command")
	}
	if !piped {
		return nil
	}
	for part := range strings.SplitSeq(pipes, "|") {
		if !known(firstWord(part), readingFilters) {
			return refuse(command, "what follows the pipe may write a file")
		}
	}
	return nil
}

func refuse(command, why string) error {
	return schema.Errorf(schema.CodeRefused, "%q was not sent: %s", schema.CutText(command, 200), why)
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(s, "\t", " ")), " ")
	return strings.ToLower(word)
}

// known reports whether the word is one of the list's, or an abbreviation of it that is long enough.
func known(word string, list []struct{ word, shortest string }) bool {
	for _, v := range list {
		if strings.HasPrefix(v.word, word) && strings.HasPrefix(word, v.shortest) {
			return true
		}
	}
	return false
}
