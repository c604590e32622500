package capture

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
)

// maxFields is how many fields a search gives.
const maxFields = 40

// maxFieldsText bounds what tshark may print of its fields, in bytes: several times what it has to.
const maxFieldsText = 128 << 20

// keywordForm is what a field can be searched by.
var keywordForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{2,60}$`)

// Field is something that tshark can show of a packet, or filter by.
type Field struct {
	Name        string `json:"field"`
	Type        string `json:"type"`     // in tshark's words: FT_IPv4, FT_UINT16, …
	Protocol    string `json:"protocol"` // that it belongs to
	Description string `json:"description"`
}

// Fields is the outcome of a search: the best matches, and how many there were.
type Fields struct {
	Fields []Field
	Total  int
}

// SearchFields looks for fields whose name or description has the keyword in it, in any case; those whose name begins with it come first.
// CodeToolArguments for more than one word, CodeUnavailable without tshark, CodeCommandTimeout, CodeAborted.
func (t *Tshark) SearchFields(ctx context.Context, keyword string) (Fields, error) {
	switch words := strings.Fields(keyword); {
	case len(words) == 0:
		return Fields{}, refused("A keyword is required.", "Write a protocol or a part of a field's name, such as ospf.hello.")
	case len(words) > 1:
		return Fields{}, refused("Only one keyword allowed", "Search for one word at a time, such as ospf or ospf.hello.")
	case !keywordForm.MatchString(words[0]):
		return Fields{}, refused("That keyword can't be searched for.", "Use 2 to 60 letters, digits, dots, dashes and underscores.")
	default:
		keyword = strings.ToLower(words[0])
	}
	found := &search{keyword: keyword}
	if said, err := t.run(ctx, []string{"-G", "fields"}, found); err != nil {
		return Fields{}, complaint(said, err)
	}
	return found.best(), nil
}

// search reads what "tshark -G fields" prints, line by line, and keeps what fits.
type search struct {
	keyword string
	read    int    // bytes
	part    []byte // of a line that isn't complete
	found   []match
}

type match struct {
	Field
	rank int // the lower the better
}

func (s *search) Write(p []byte) (int, error) {
	if s.read += len(p); s.read > maxFieldsText {
		return 0, errFull
	}
	for text := p; ; {
		line, rest, ok := bytes.Cut(text, []byte("\n"))
		s.part = append(s.part, line...)
		if !ok {
			return len(p), nil
		}
		s.line(string(s.part))
		s.part, text = s.part[:0], rest
	}
}

// line reads "F", name, field, type, protocol, base, bitmask and description, separated by tabs. Other lines are about protocols.
func (s *search) line(line string) {
	c := strings.Split(line, "\t")
	if len(c) < 5 || c[0] != "F" {
		return
	}
	f := Field{Name: c[2], Type: c[3], Protocol: c[4], Description: c[1]}
	if len(c) > 7 && c[7] != "" && c[7] != c[1] {
		f.Description += ": " + c[7]
	}
	name := strings.ToLower(f.Name)
	switch {
	case name == s.keyword:
		s.found = append(s.found, match{f, 0})
	case strings.HasPrefix(name, s.keyword):
		s.found = append(s.found, match{f, 1})
	case strings.Contains(name, s.keyword):
		s.found = append(s.found, match{f, 2})
	case strings.Contains(strings.ToLower(f.Description), s.keyword):
		s.found = append(s.found, match{f, 3})
	}
}

func (s *search) best() Fields {
	slices.SortFunc(s.found, func(a, b match) int {
		return cmp.Or(a.rank-b.rank, len(a.Name)-len(b.Name), strings.Compare(a.Name, b.Name))
	})
	// Two dissectors can have one field.
	s.found = slices.CompactFunc(s.found, func(a, b match) bool { return a.Name == b.Name })
	out := Fields{Fields: []Field{}, Total: len(s.found)}
	for _, m := range s.found[:min(len(s.found), maxFields)] {
		out.Fields = append(out.Fields, m.Field)
	}
	return out
}
