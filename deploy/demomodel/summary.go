package demomodel

import (
	"fmt"
	"strings"
)

const (
	maxInterfaces = 24
	maxQuoted     = 8   // lines of an output that nothing was parsed from
	maxLine       = 160 // bytes of such a line
	maxNodes      = 60
)

// summary says what this turn's tools returned, and nothing else.
func (t turn) summary(notes []string) string {
	var out []string
	for _, r := range t.results {
		switch {
		case r.status == modified && r.answered:
			continue // the call that followed tells
		case r.err != "" && r.status != "":
			out = append(out, verdict(r.err))
		case r.err != "":
			out = append(out, "The tool failed: "+r.err)
		}
		if r.topology != nil {
			out = append(out, r.topology.describe())
			continue
		}
		for _, it := range r.items {
			switch {
			case r.err != "" && it.err == r.err: // said for the whole call
			case changesDevices(r.tool) && it.name != "":
				out = append(out, t.describeChange(r.tool, it))
			default:
				out = append(out, t.describe(it)...)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, noResult)
	}
	return strings.Join(append(out, notes...), "\n")
}

func (t turn) describe(it item) []string {
	name := it.name
	if name == "" {
		name = "The tool"
	}
	var out []string
	for _, section := range sections(it.output, t.commandsOf(it.name)) {
		for _, f := range findings(section) {
			out = append(out, "- "+name+":"+f)
		}
	}
	switch {
	case it.failed && it.err != "":
		out = append(out, "- "+name+" failed: "+it.err)
	case it.failed:
		out = append(out, "- "+name+" failed, and the tool doesn't say why.")
	case len(out) == 0:
		out = append(out, "- "+name+" answered nothing.")
	}
	return out
}

// sections cuts an output where the device's prompt with one of the commands stands, so that each command's part is read alone.
func sections(output string, commands []string) []string {
	var all []string
	var current []string
	for _, line := range lines(output) {
		if isEcho(line, commands) {
			all = append(all, strings.Join(current, "\n"))
			current = nil
			continue
		}
		current = append(current, line)
	}
	return append(all, strings.Join(current, "\n"))
}

func isEcho(line string, commands []string) bool {
	line = strings.TrimSpace(line)
	for _, c := range commands {
		if prompt, ok := strings.CutSuffix(line, c); ok && (prompt == "" || strings.ContainsAny(prompt, ">#$]")) {
			return true
		}
	}
	return false
}

// findings tells what a section shows: what can be parsed, else its first lines. Each begins with a blank or a new line.
func findings(section string) []string {
	var found []string
	shown := interfacesIn(section)
	for i, f := range shown {
		if i == maxInterfaces {
			found = append(found, fmt.Sprintf(" … and %d more interfaces", len(shown)-i))
			break
		}
		address := f.address
		if address == "" {
			address = "no address"
		}
		found = append(found, fmt.Sprintf(" %s %s (%s)", f.name, address, f.state))
	}
	if ip, gateway := hostIn(section); ip != "" {
		line := " address " + ip
		if gateway != "" {
			line += ", gateway " + gateway
		}
		found = append(found, line)
	}
	for _, ping := range pingsIn(section) {
		found = append(found, " "+ping)
	}
	if len(found) > 0 {
		return found
	}
	return quote(section)
}

// quote gives the first lines as one code block.
func quote(section string) []string {
	var kept []string
	left := 0
	for _, line := range lines(section) {
		line = strings.TrimRight(line, " \t")
		switch {
		case line == "":
		case len(kept) == maxQuoted:
			left++
		case len(line) > maxLine:
			kept = append(kept, strings.ToValidUTF8(line[:maxLine], "")+"…")
		default:
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	if left > 0 {
		kept = append(kept, fmt.Sprintf("… %d more lines", left))
	}
	return []string{"\n```\n" + strings.Join(kept, "\n") + "\n```"}
}

// describe lists nodes and links.
func (t topology) describe() string {
	names := t.names()
	out := []string{fmt.Sprintf("The project has %d nodes:", len(names))}
	if len(names) == 0 {
		out[0] = "The project has no nodes."
	}
	for i, name := range names {
		if i == maxNodes {
			out = append(out, fmt.Sprintf("- … and %d more", len(names)-i))
			break
		}
		n := t.Nodes[name]
		var about []string
		for _, s := range []string{n.Type, n.Status} {
			if s != "" {
				about = append(about, s)
			}
		}
		line := "- " + name
		if len(about) > 0 {
			line += " (" + strings.Join(about, ", ") + ")"
		}
		out = append(out, line)
	}
	for i, l := range t.Links {
		if i == 0 {
			out = append(out, "Links:")
		}
		if i == maxNodes {
			out = append(out, fmt.Sprintf("- … and %d more", len(t.Links)-i))
			break
		}
		out = append(out, fmt.Sprintf("- %s %s – %s %s", l.NodeA, l.PortA, l.NodeB, l.PortB))
	}
	return strings.Join(out, "\n")
}
