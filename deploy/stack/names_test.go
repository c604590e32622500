package stack

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gns3copilot/activities/policy"
	"gns3copilot/activities/skills"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
)

// snakeCase is what names of tools and arguments look like, and little else.
var snakeCase = regexp.MustCompile(`[a-z0-9]+(?:_[a-z0-9]+)+`)

func builtIn(t *testing.T) *skills.Library {
	t.Helper()
	l, _, err := skills.Open(t.Context(), skills.Options{Policy: policy.Default(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// argumentNames are all keys and fixed values that the tools' schemas have.
func argumentNames(t *testing.T, r *tools.Registry) []string {
	t.Helper()
	var names []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				names = append(names, key)
				walk(value)
			}
		case []any:
			for _, value := range v {
				walk(value)
			}
		case string:
			names = append(names, v)
		}
	}
	for _, mode := range modes() {
		for _, tool := range r.Definitions(mode) {
			var s any
			if err := json.Unmarshal(tool.Schema(), &s); err != nil {
				t.Fatal(err)
			}
			walk(s)
		}
	}
	return names
}

func modes() []schema.Mode {
	return []schema.Mode{schema.ModeTeaching, schema.ModeAutomation, schema.ModeInjection}
}

// TestNamesInPromptsAndDescriptions (F26): what a prompt names like a tool is one that its mode has, and what a tool's description names is a
// tool, an argument, or a key of the built-in skills.
func TestNamesInPromptsAndDescriptions(t *testing.T) {
	l := builtIn(t)
	r, err := newRegistry(nil, l.Policy, l)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, mode := range modes() {
		var has []string
		for _, tool := range r.Definitions(mode) {
			has = append(has, tool.Metadata().Name)
		}
		for _, name := range snakeCase.FindAllString(l.System(mode, "")+l.Title(), -1) {
			named++
			if !slices.Contains(has, name) {
				t.Errorf("the prompt of %s names %s, which the mode doesn't have", mode, name)
			}
		}
	}
	known := append(argumentNames(t, r), r.Names()...)
	known = append(known, l.Set().Devices.Keys()...)
	for _, s := range l.Set().Injections.All("") {
		known = append(known, s.Key)
		known = append(known, snakeCase.FindAllString(s.Index(), -1)...)
	}
	known = append(known, "device_type") // of tags
	for _, tool := range r.Definitions(schema.ModeAutomation) {
		for _, name := range snakeCase.FindAllString(tool.Metadata().Description, -1) {
			named++
			if !slices.Contains(known, name) {
				t.Errorf("the description of %s names %s, which isn't there", tool.Metadata().Name, name)
			}
		}
	}
	if named < 30 {
		t.Errorf("looked at %d names only", named)
	}
}

// TestTheToolsOfAModeAreDocumented holds docs/skills.md against the registry.
func TestTheToolsOfAModeAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/skills.md")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRegistry(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range r.Names() {
		var row []string
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| `"+name+"` |") {
				row = strings.Split(strings.TrimSpace(line), "|")
			}
		}
		if len(row) != 6 {
			t.Errorf("docs/skills.md has no row for %s", name)
			continue
		}
		for i, mode := range modes() {
			has := slices.ContainsFunc(r.Definitions(mode), func(tool tools.Tool) bool { return tool.Metadata().Name == name })
			if documented := strings.TrimSpace(row[i+2]) != ""; has != documented {
				t.Errorf("%s in %s: %v, documented as %v", name, mode, has, documented)
			}
		}
	}
}

// TestNothingIsOfferedThatIsRefused: neither a prompt nor a tool's description names a command that is never sent.
func TestNothingIsOfferedThatIsRefused(t *testing.T) {
	l := builtIn(t)
	r, err := newRegistry(nil, l.Policy, l)
	if err != nil {
		t.Fatal(err)
	}
	if v := l.Policy().Commands("cisco_ios", []string{"debug"}); v.Action != policy.Refuse {
		t.Fatalf("debug is not refused: %+v", v)
	}
	words := 0
	for _, mode := range modes() {
		text := l.System(mode, "") + l.Title()
		for _, tool := range r.Definitions(mode) {
			text += " " + tool.Metadata().Description
		}
		for _, word := range regexp.MustCompile(`[A-Za-z][A-Za-z-]+`).FindAllString(text, -1) {
			words++
			for _, platform := range []string{"cisco_ios", "frr", "vpcs"} {
				if v := l.Policy().Commands(platform, []string{strings.ToLower(word)}); v.Action == policy.Refuse {
					t.Errorf("%s names %s, which is never sent to %s", mode, word, platform)
				}
			}
		}
	}
	if words < 500 {
		t.Errorf("looked at %d words only", words)
	}
}
