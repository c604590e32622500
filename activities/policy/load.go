package policy

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"gns3copilot/schema"
)

//go:embed policy.yaml
var defaultFile []byte

var (
	// builtIn is parsed once, as a compiled pattern is.
	builtIn = sync.OnceValues(func() (*Policy, error) { return Load(defaultFile) })
	// goType is how the YAML library ends a complaint about an unknown key.
	goType = regexp.MustCompile(` not found in type \S+`)
)

// fallback is the platform whose reading commands an unknown device has.
const fallback = "default"

// Default gives the built-in policy.
func Default() *Policy {
	p, err := builtIn()
	if err != nil { // the file is part of the program, and tested
		panic(err)
	}
	return p
}

// file is the form of policy.yaml.
type file struct {
	ApproveTools []string             `yaml:"approve-tools"`
	DangerTools  map[string]string    `yaml:"danger-tools"`
	Platforms    map[string]*platform `yaml:"platforms"`
}

// Load reads a policy file in YAML. What is wrong with it is reported all at once, each fault with its line, as CodeInvalid.
func Load(text []byte) (*Policy, error) {
	var f file
	var faults []string
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) { // an empty file lacks what every file needs
		list, ok := errors.AsType[*yaml.TypeError](err)
		if !ok {
			return nil, invalidFile([]string{strings.TrimPrefix(err.Error(), "yaml: ")}).WithCause(err)
		}
		for _, fault := range list.Errors {
			faults = append(faults, goType.ReplaceAllString(fault, " is not a key of this file"))
		}
	}
	p, more := f.policy()
	if faults = append(faults, more...); len(faults) > 0 {
		return nil, invalidFile(faults)
	}
	return p, nil
}

func invalidFile(faults []string) *schema.Error {
	slices.SortStableFunc(faults, func(a, b string) int { return cmp.Compare(lineOf(a), lineOf(b)) })
	return schema.Errorf(schema.CodeInvalid, "The policy file has %d fault(s): %s.", len(faults), strings.Join(faults, "; ")).
		WithHint("Correct the file; until then the policy stays as it was.")
}

// lineOf gives N of "line N: …", and 0 for a fault of the whole file.
func lineOf(fault string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(fault, "line "), ":")
	n, _ := strconv.Atoi(number)
	return n
}

// policy checks what the file's form alone doesn't show.
func (f *file) policy() (*Policy, []string) {
	p := &Policy{tools: map[string]bool{}, dangerTools: f.DangerTools, byName: map[string]*platform{}}
	var faults []string
	for _, tool := range f.ApproveTools {
		p.tools[tool] = true
	}
	if len(f.ApproveTools) == 0 {
		faults = append(faults, "approve-tools is empty")
	}
	for _, tool := range slices.Sorted(maps.Keys(f.DangerTools)) {
		switch {
		case !p.tools[tool]:
			faults = append(faults, fmt.Sprintf("danger-tools: %s is not one of approve-tools", tool))
		case strings.TrimSpace(f.DangerTools[tool]) == "":
			faults = append(faults, fmt.Sprintf("danger-tools: %s has no reason", tool))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Platforms)) {
		rules := f.Platforms[name]
		if rules == nil {
			faults = append(faults, fmt.Sprintf("platforms.%s is empty", name))
			continue
		}
		p.platforms = append(p.platforms, rules)
		for _, n := range append([]string{name}, rules.Aliases...) {
			if p.byName[n] != nil {
				faults = append(faults, fmt.Sprintf("platforms.%s: the name %q is taken", name, n))
			}
			p.byName[n] = rules
		}
		if len(rules.Reading) == 0 {
			faults = append(faults, fmt.Sprintf("platforms.%s.reading is empty", name))
		}
	}
	if p.byName[fallback] == nil {
		faults = append(faults, "platforms.default is missing")
	}
	return p, faults
}

// words are patterns of one word each.
type words []word

// patterns are a list of patterns.
type patterns []pattern

// reasons are patterns, each with what a person has to know about it.
type reasons []pattern

// UnmarshalYAML reads a list of words.
func (w *words) UnmarshalYAML(node *yaml.Node) error {
	return eachScalar(node, func(item *yaml.Node) error {
		parsed, err := parseWord(item.Value)
		if err == nil && (parsed.full == "" || strings.Contains(item.Value, " ")) {
			err = errors.New("is not a single word")
		}
		*w = append(*w, parsed)
		return err
	})
}

// UnmarshalYAML reads a list of patterns.
func (p *patterns) UnmarshalYAML(node *yaml.Node) error {
	return eachScalar(node, func(item *yaml.Node) error {
		parsed, err := parsePattern(item.Value)
		*p = append(*p, parsed)
		return err
	})
}

// UnmarshalYAML reads a mapping from patterns to their reasons.
func (r *reasons) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: a mapping of patterns to reasons is expected", node.Line)}}
	}
	var faults []string
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		parsed, err := parsePattern(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode:
			err = errors.New("and its reason must be texts")
		case err == nil && seen[key.Value]:
			err = errors.New("is there twice")
		case err == nil && strings.TrimSpace(value.Value) == "":
			err = errors.New("has no reason")
		}
		if err != nil {
			faults = append(faults, fmt.Sprintf("line %d: pattern %q %v", key.Line, key.Value, err))
		}
		seen[key.Value] = true
		parsed.why = value.Value
		*r = append(*r, parsed)
	}
	return typeError(faults)
}

func eachScalar(node *yaml.Node, read func(item *yaml.Node) error) error {
	if node.Kind != yaml.SequenceNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: a list is expected", node.Line)}}
	}
	var faults []string
	for _, item := range node.Content {
		if err := read(item); err != nil {
			faults = append(faults, fmt.Sprintf("line %d: %q %v", item.Line, item.Value, err))
		}
	}
	return typeError(faults)
}

// typeError lets the YAML library go on and report these faults together with its own.
func typeError(faults []string) error {
	if faults == nil {
		return nil
	}
	return &yaml.TypeError{Errors: faults}
}
