package skills

import (
	"slices"
	"strings"

	"gns3copilot/schema"
)

// Catalog is skills of one kind in the order of their keys.
type Catalog struct {
	kind string // in an error: "device type"
	list []Skill
}

// All lists the skills, of one category alone unless it is empty.
func (c Catalog) All(category string) []Skill {
	if category == "" {
		return c.list
	}
	var some []Skill
	for _, s := range c.list {
		if strings.EqualFold(s.Category, category) {
			some = append(some, s)
		}
	}
	return some
}

// About lists the skills that have to do with one of the protocols or technologies.
func (c Catalog) About(context []string) []Skill {
	var some []Skill
	for _, s := range c.list {
		if slices.ContainsFunc(context, func(word string) bool { return s.about(squeeze(word)) }) {
			some = append(some, s)
		}
	}
	return some
}

// about tells whether a protocol, written small and without blanks, belongs to the skill: by its key or its list of protocols.
func (s Skill) about(word string) bool {
	if word == "" {
		return false
	}
	if slices.Contains(strings.Split(short(s.Key), "_"), word) {
		return true
	}
	return slices.ContainsFunc(s.Protocols, func(p string) bool { return squeeze(p) == word })
}

// squeeze writes a protocol's name as its key would be.
func squeeze(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// Find gives the skill of a key, or of a name that can mean no other one: in other letters, or without the endings that tell a device's
// console, or what stands before and behind in a fault set's key. It fails with CodeNotFound and names the keys that there are.
func (c Catalog) Find(key string) (Skill, error) {
	for _, same := range []func(string) string{func(s string) string { return s }, squeeze, short} {
		var found []Skill
		for _, s := range c.list {
			if same(s.Key) == same(key) {
				found = append(found, s)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	return Skill{}, schema.Errorf(schema.CodeNotFound, "There is no %s %q.", c.kind, schema.CutText(key, 100)).
		WithHint("There are: %s.", schema.CutText(strings.Join(c.Keys(), ", "), 4000))
}

// short is the part of a key that tells it from others.
func short(key string) string {
	key = squeeze(key)
	for _, before := range []string{"injection_", "gns3_"} {
		key = strings.TrimPrefix(key, before)
	}
	for _, behind := range []string{"_issues", "_telnet", "_ssh", "_serial", "_vtysh"} {
		key = strings.TrimSuffix(key, behind)
	}
	return key
}

// Keys lists what can be asked for.
func (c Catalog) Keys() []string {
	names := make([]string, len(c.list))
	for i, s := range c.list {
		names[i] = s.Key
	}
	return names
}
