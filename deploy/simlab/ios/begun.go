package ios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// numberBegun is what help shows for the first digits of a number.
func numberBegun(label string, high int) func(string) []string {
	return func(text string) []string {
		if n, err := strconv.ParseUint(text, 10, 64); text != "" && (err != nil || n > uint64(high)) {
			return nil
		}
		return []string{label}
	}
}

// addressBegun is what help shows for the first characters of an IPv4 address.
func addressBegun(text string) []string {
	parts := strings.Split(text, ".")
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		unfinished := part == "" && i == len(parts)-1
		if !unfinished && (err != nil || n > 255) {
			return nil
		}
	}
	if len(parts) > 4 {
		return nil
	}
	return []string{"A.B.C.D"}
}

// areaBegun knows both forms of an area.
func areaBegun(text string) []string {
	return append(numberBegun("<0-4294967295>", 1<<32-1)(text), addressBegun(text)...)
}

func portNumberBegun(text string) []string {
	labels := numberBegun("<0-65535>", 65535)(text)
	for _, name := range slices.Sorted(maps.Values(ports())) {
		if text != "" && strings.HasPrefix(name, text) {
			labels = append(labels, name)
		}
	}
	return labels
}

func flashBegun(text string) []string {
	if strings.HasPrefix(flashName, text) || strings.HasPrefix(text, flashName) {
		return []string{flashName}
	}
	return nil
}

func vlanBegun(text string) []string {
	if strings.Trim(text, "0123456789,-") != "" {
		return nil
	}
	return []string{"WORD"}
}

// portBegun is what help shows for the beginning of an interface's name: the kinds there are while it has no number, else the
// numbers that may stand where it has got to. A blank after the kind asks for its numbers.
func portBegun(r *Router, create bool) func(string) []string {
	return func(text string) []string {
		kind, number := text, ""
		at := strings.IndexAny(text, " 0123456789")
		if at >= 0 {
			kind, number = text[:at], strings.TrimPrefix(text[at:], " ")
		}
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(kinds())) {
			numbers := r.portNumbers(name, create)
			switch {
			case len(numbers) == 0 || !strings.HasPrefix(strings.ToLower(name), kind):
			case at < 0:
				labels = append(labels, name)
			case kind != "":
				labels = append(labels, numbersBegun(numbers, number)...)
			}
		}
		return labels
	}
}

// nullBegun is what help shows for the beginning of the null interface's name.
func nullBegun(text string) []string {
	at := strings.IndexAny(text, " 0123456789")
	switch {
	case at < 0 && strings.HasPrefix(strings.ToLower(nullName), text):
		return []string{nullName}
	case at > 0 && strings.HasPrefix(strings.ToLower(nullName), text[:at]):
		return numbersBegun([]span{{"", 0, 0}}, strings.TrimPrefix(text[at:], " "))
	}
	return nil
}

// span is the numbers that may stand in one place of an interface's name, after what comes before them.
type span struct {
	before    string
	low, high int
}

// portNumbers gives the numbers that interfaces of a kind have, or can have.
func (r *Router) portNumbers(kind string, create bool) []span {
	var all []span
	if highest := map[string]int{loopbackName: 2147483647, vlanName: maxVLAN}[kind]; create && highest > 0 && r.mayCreate(kind+"1") {
		low := 0
		if kind == vlanName {
			low = 1
		}
		return []span{{"", low, highest}}
	}
	for _, i := range r.host.Interfaces() {
		number, ok := strings.CutPrefix(i.Name, kind)
		if !ok {
			continue
		}
		all = append(all, spansOf(number)...)
		if create && i.Parent == "" && r.mayCreate(i.Name+".1") {
			all = append(all, span{number + ".", 0, 4294967295})
		}
	}
	return all
}

// spansOf takes a number such as 0/1.20 apart.
func spansOf(number string) []span {
	var all []span
	from := 0
	for i := 0; i <= len(number); i++ {
		if i < len(number) && number[i] != '/' && number[i] != '.' {
			continue
		}
		if n, err := strconv.Atoi(number[from:i]); err == nil {
			all = append(all, span{number[:from], n, n})
		}
		from = i + 1
	}
	return all
}

// numbersBegun gives the range that fits where a number has got to.
func numbersBegun(numbers []span, text string) []string {
	before := text[:strings.LastIndexAny(text, "/.")+1]
	digits := text[len(before):]
	low, high, found := 0, 0, false
	for _, s := range numbers {
		if s.before != before {
			continue
		}
		if !found {
			low, high, found = s.low, s.high, true
		}
		low, high = min(low, s.low), max(high, s.high)
	}
	if n, err := strconv.Atoi(digits); !found || digits != "" && (err != nil || n > high) {
		return nil
	}
	return []string{fmt.Sprintf("<%d-%d>", low, high)}
}
