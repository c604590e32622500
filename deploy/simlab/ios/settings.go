package ios

import (
	"maps"
	"slices"
	"strings"
)

// settings are configuration lines that are kept, shown and saved, by section of the configuration.
type settings map[string][]string

// set stores a line in place of the one that begins with key.
func (c settings) set(section, key, line string) {
	if i := c.index(section, key); i >= 0 {
		c[section][i] = line
		return
	}
	c[section] = append(c[section], line)
}

// drop removes the lines that begin with key and reports whether there was one.
func (c settings) drop(section, key string) bool {
	before := len(c[section])
	c[section] = slices.DeleteFunc(c[section], func(line string) bool { return begins(line, key) })
	return len(c[section]) < before
}

// find gives what follows key in the line that begins with it.
func (c settings) find(section, key string) (string, bool) {
	i := c.index(section, key)
	if i < 0 {
		return "", false
	}
	return strings.TrimSpace(strings.TrimPrefix(c[section][i], key)), true
}

func (c settings) index(section, key string) int {
	return slices.IndexFunc(c[section], func(line string) bool { return begins(line, key) })
}

// begins reports whether a line begins with these whole words.
func begins(line, key string) bool { return line == key || strings.HasPrefix(line, key+" ") }

// text writes a section's lines, indented.
func (c settings) text(section, indent string) string {
	var b strings.Builder
	for _, line := range c[section] {
		b.WriteString(indent + line + "\n")
	}
	return b.String()
}

// sectionsLike lists the sections whose name begins with a text, in order.
func (c settings) sectionsLike(prefix string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if strings.HasPrefix(name, prefix) {
			all = append(all, name)
		}
	}
	return all
}

// The sections of global lines: above the interfaces, below them, and at the very end.
const (
	sectionTop    = "top"
	sectionBottom = "bottom"
	sectionEnd    = "end"
)

// flag is a command that only switches something on or off.
type flag struct {
	name    string
	initial bool
	// shown says which state the configuration mentions: "both" either, "off" only the one that isn't initial. A boot begins with
	// the initial state, so a state that the configuration is silent about must be that one.
	shown   string
	section string
}

// flags are all there are, in the order of the configuration.
func flags() []flag {
	return []flag{
		{"service password-encryption", false, "both", "service"},
		{"logging console", true, "off", sectionTop},
		{"aaa new-model", false, "both", "aaa"},
		{"ip icmp rate-limit unreachable", true, "off", "aaa"},
		{"ip routing", true, "off", "aaa"},
		{"ip cef", true, "both", "aaa"},
		{"ip domain lookup", true, "off", "names"},
		{"cdp run", true, "off", "cdp"},
		{"ip http server", false, "both", "http"},
		{"ip http secure-server", false, "both", "http"},
		{"ip classless", true, "off", "http"},
		{"ip subnet-zero", true, "off", "http"},
	}
}

// initialFlags are the flags of a device out of the box.
func initialFlags() map[string]bool {
	m := map[string]bool{}
	for _, f := range flags() {
		m[f.name] = f.initial
	}
	return m
}

// flagText writes a section's flags.
func (r *Router) flagText(section string) string {
	var b strings.Builder
	for _, f := range flags() {
		on := r.flags[f.name]
		switch {
		case f.section != section:
		case !on:
			b.WriteString("no " + f.name + "\n")
		case f.shown == "both":
			b.WriteString(f.name + "\n")
		}
	}
	return b.String()
}
