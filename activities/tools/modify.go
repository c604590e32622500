package tools

import (
	"encoding/json"
	"strings"

	"gns3copilot/schema"

	"github.com/aymanbagabas/go-udiff"
)

// Modified checks the arguments that a human wrote in place of a call's. It gives them as they would be run, their hash, and what was
// changed, device by device. It fails as Resolve does.
func (r *Registry) Modified(tool, original string, modified []byte, mode schema.Mode) (args, sha256, summary string, err error) {
	t, canonical, err := r.Resolve(tool, string(modified), mode)
	if err != nil {
		return "", "", "", err
	}
	if len(canonical) > MaxArguments {
		return "", "", "", tooLong()
	}
	return string(canonical), HashArguments(string(canonical)), modification(t, original, canonical), nil
}

// modification lists the lines that were taken out and put in.
func modification(t Tool, original string, modified json.RawMessage) string {
	before, after := string(schema.TextIndent(json.RawMessage(original))), string(schema.TextIndent(modified))
	if c, ok := t.(Changer); ok {
		before, after = listing(c, json.RawMessage(original)), listing(c, modified)
	}
	var lines []string
	for line := range strings.Lines(udiff.Unified("", "", before, after)) {
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "-"), strings.HasPrefix(line, "+"):
			lines = append(lines, "  "+line[:1]+" "+strings.TrimRight(line[1:], "\n"))
		}
	}
	if lines == nil {
		return "No change"
	}
	return strings.Join(lines, "\n")
}

// listing writes what a call does, a line each with its device.
func listing(c Changer, args json.RawMessage) string {
	list, err := c.Changes(args)
	if err != nil {
		return string(args)
	}
	var b strings.Builder
	for _, change := range list {
		for _, line := range change.Lines {
			b.WriteString(change.Device + ": " + line + "\n")
		}
	}
	return b.String()
}
