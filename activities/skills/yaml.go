package skills

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gns3copilot/schema"

	"gopkg.in/yaml.v3"
)

// Bounds of a YAML file: how deep its values lie in one another, and how many there are, with how many bytes, once its aliases are written out.
const (
	maxDepth   = 24
	maxValues  = 20_000
	maxWritten = 1 << 20
)

// parse reads a file of one YAML document, which must be a mapping. The mapping that it gives has no aliases, comments or styles of
// writing, and its keys are texts that are different from each other: of a key that is there twice the later value counts, and it is
// listed with its line.
func parse(text string) (_ *yaml.Node, twice []string, _ error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil, errors.New("it is empty")
		}
		return nil, nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("it has more than one document")
	}
	if doc.Kind != yaml.DocumentNode || doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil, errors.New("it isn't a mapping of names to values")
	}
	c := copying{left: maxValues, bytes: maxWritten}
	n, err := c.value(doc.Content[0], maxDepth)
	return n, c.twice, err
}

// copying copies values with their aliases written out.
type copying struct {
	left  int // how many more there may be
	bytes int // and of how many bytes
	twice []string
}

func (c *copying) value(n *yaml.Node, depth int) (*yaml.Node, error) {
	c.left--
	c.bytes -= len(n.Value)
	switch {
	case depth == 0:
		return nil, fmt.Errorf("line %d: values lie deeper in one another than %d", n.Line, maxDepth)
	case c.left < 0:
		return nil, fmt.Errorf("it has more than %d values, its aliases written out", maxValues)
	case c.bytes < 0:
		return nil, fmt.Errorf("it has more than %d KiB, its aliases written out", maxWritten>>10)
	case n.Kind == yaml.AliasNode:
		return c.value(n.Alias, depth-1)
	}
	fresh := &yaml.Node{Kind: n.Kind, Tag: n.ShortTag(), Value: n.Value, Line: n.Line}
	switch fresh.Tag {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
	default:
		return nil, fmt.Errorf("line %d: %s isn't read here", n.Line, fresh.Tag)
	}
	if n.Kind == yaml.MappingNode {
		return fresh, c.pairs(fresh, n, depth-1)
	}
	for _, item := range n.Content {
		next, err := c.value(item, depth-1)
		if err != nil {
			return nil, err
		}
		fresh.Content = append(fresh.Content, next)
	}
	return fresh, nil
}

// pairs copies a mapping's keys and values.
func (c *copying) pairs(fresh, n *yaml.Node, depth int) error {
	at := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := c.value(n.Content[i], depth)
		if err != nil {
			return err
		}
		value, err := c.value(n.Content[i+1], depth)
		if err != nil {
			return err
		}
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a key isn't a text", n.Content[i].Line)
		}
		if before, known := at[key.Value]; known {
			fresh.Content[before] = value
			c.twice = append(c.twice, fmt.Sprintf("%s (line %d)", schema.CutText(key.Value, 100), n.Content[i].Line))
			continue
		}
		fresh.Content = append(fresh.Content, key, value)
		at[key.Value] = len(fresh.Content) - 1
	}
	return nil
}

// get gives the value of a mapping's key, or nil.
func get(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// keys lists a mapping's keys in their order.
func keys(n *yaml.Node) []string {
	var list []string
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		list = append(list, n.Content[i].Value)
	}
	return list
}

// word reads the text of a key; it is "" where there is none, and an error where it is something else.
func word(n *yaml.Node, key string) (string, error) {
	value := get(n, key)
	switch {
	case value == nil || value.Tag == "!!null":
		return "", nil
	case value.Kind != yaml.ScalarNode:
		return "", fmt.Errorf("line %d: %s isn't a text", value.Line, key)
	}
	return strings.TrimSpace(value.Value), nil
}

// words reads a list of texts.
func words(n *yaml.Node, key string) ([]string, error) {
	value := get(n, key)
	if value == nil || value.Tag == "!!null" {
		return nil, nil
	}
	if value.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("line %d: %s isn't a list", value.Line, key)
	}
	var list []string
	for _, item := range value.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: %s has something other than texts", item.Line, key)
		}
		list = append(list, item.Value)
	}
	return list, nil
}

// pair is a key with its value.
type pair struct {
	key   string
	value *yaml.Node
}

func mapping(pairs ...pair) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, p := range pairs {
		n.Content = append(n.Content, scalar(p.key), p.value)
	}
	return n
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// write gives a value as text. What parse has read can be written.
func write(n *yaml.Node) string {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return "(this can't be shown: " + err.Error() + ")"
	}
	return strings.TrimRight(b.String(), "\n")
}
