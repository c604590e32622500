package skills

import (
	"fmt"
	"strings"

	"gns3copilot/schema"

	"gopkg.in/yaml.v3"
)

// maxText bounds what is shown of a skill at once, in bytes.
const maxText = 24 << 10

// Index shows what there is to ask for: issues and topics by their keys with their names, and the keys of the rest.
func (s Skill) Index() string { return s.outline([]string{"name"}) }

// Summary is Index with a few words on each issue and topic.
func (s Skill) Summary() string {
	return s.outline([]string{"name", "description", "severity", "difficulty"})
}

// Full shows all but the topics, of which it has the index.
func (s Skill) Full() string {
	n := mapping(s.head()...)
	for _, key := range keys(s.body) {
		if !inHead(key) {
			n.Content = append(n.Content, scalar(key), get(s.body, key))
		}
	}
	if topics := s.topicList([]string{"name"}); topics != nil {
		n.Content = append(n.Content, scalar("topics"), topics)
	}
	return cut(write(n), "ask for a part: detail index lists the issues and topics, issue or topic gives one")
}

// Issue shows one issue of the skill or of its topics, or what it has under that key to tell of troubleshooting. It fails with CodeNotFound.
func (s Skill) Issue(key string) (string, error) {
	known := []string{}
	for _, part := range append([]Skill{s}, s.topics.list...) {
		for _, section := range []string{"issues", "troubleshooting"} {
			all := get(part.body, section)
			if found := get(all, key); found != nil {
				return cut(write(mapping(pair{"device_type", scalar(s.Key)}, pair{"skill_name", scalar(part.Name)},
					pair{"issue", mapping(pair{key, found})})), ""), nil
			}
			known = append(known, keys(all)...)
		}
	}
	return "", schema.Errorf(schema.CodeNotFound, "%s has no issue %q.", s.Key, schema.CutText(key, 100)).WithHint("%s", there(known))
}

// Topic shows a topic of the device. It fails with CodeNotFound.
func (s Skill) Topic(key string) (string, error) {
	if len(s.topics.list) == 0 {
		return "", schema.Errorf(schema.CodeNotFound, "%s has no topics.", s.Key).WithHint("Leave topic out: all there is comes at once.")
	}
	topic, err := s.topics.Find(key)
	if err != nil {
		return "", err
	}
	n := mapping(pair{"device_type", scalar(s.Key)}, pair{"topic", scalar(topic.Key)})
	for _, key := range keys(topic.body) {
		if key != "device_type" && key != "topic" {
			n.Content = append(n.Content, scalar(key), get(topic.body, key))
		}
	}
	return cut(write(n), "ask for one issue"), nil
}

func there(known []string) string {
	if len(known) == 0 {
		return "There are none."
	}
	return "There are: " + schema.CutText(strings.Join(known, ", "), 4000) + "."
}

// inHead tells whether head shows what stands under a key.
func inHead(key string) bool {
	switch key {
	case "device_type", "protocol_key", "name", "description":
		return true
	}
	return false
}

// head is what every view begins with.
func (s Skill) head() []pair {
	key := "device_type"
	if get(s.body, "protocol_key") != nil {
		key = "protocol"
	}
	head := []pair{{key, scalar(s.Key)}, {"name", scalar(s.Name)}}
	if s.Description != "" {
		head = append(head, pair{"description", scalar(s.Description)})
	}
	return head
}

// outline shows the skill with these fields of its issues and topics, and the keys alone of its other parts.
func (s Skill) outline(fields []string) string {
	n := mapping(s.head()...)
	for _, key := range keys(s.body) {
		part := get(s.body, key)
		switch {
		case inHead(key) || part.Kind == yaml.ScalarNode:
			continue
		case key == "issues":
			part = briefly(part, fields)
		case part.Kind == yaml.MappingNode:
			part = flow(keys(part))
		case key == "protocols":
		default:
			part = scalar(fmt.Sprintf("%d entries", len(part.Content)))
		}
		n.Content = append(n.Content, scalar(key), part)
	}
	if topics := s.topicList(fields); topics != nil {
		n.Content = append(n.Content, scalar("topics"), topics)
	}
	return cut(write(n), "ask for one issue by its key")
}

func (s Skill) topicList(fields []string) *yaml.Node {
	if len(s.topics.list) == 0 {
		return nil
	}
	all := mapping()
	for _, t := range s.topics.list {
		all.Content = append(all.Content, scalar(t.Key), t.body)
	}
	return briefly(all, fields)
}

// briefly gives some fields of each of a mapping's values, the value of the field alone where there is only one.
func briefly(all *yaml.Node, fields []string) *yaml.Node {
	n := mapping()
	for _, key := range keys(all) {
		value := mapping()
		for _, f := range fields {
			if has := get(get(all, key), f); has != nil {
				value.Content = append(value.Content, scalar(f), has)
			}
		}
		if len(fields) == 1 {
			value = value.Content[1] // a name, which each has
		}
		n.Content = append(n.Content, scalar(key), value)
	}
	return n
}

func flow(words []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, w := range words {
		n.Content = append(n.Content, scalar(w))
	}
	return n
}

// cut bounds a text and says how to get the rest, if there is a way.
func cut(text, rest string) string {
	if len(text) <= maxText {
		return text
	}
	at := strings.LastIndexByte(text[:maxText], '\n')
	if at < maxText/2 { // a line that is longer than all
		return schema.CutText(text, maxText)
	}
	note := fmt.Sprintf("\n… %d bytes left out", len(text)-at)
	if rest != "" {
		note += ": " + rest
	}
	return text[:at] + note
}

// Entries shows skills in a line each: the key by this name, the skill's name, and what it says under another key.
func Entries(title, keyName string, list []Skill, more string, head ...string) string {
	all := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, s := range list {
		pairs := []pair{{keyName, scalar(s.Key)}, {"name", scalar(s.Name)}}
		if value, _ := word(s.body, more); value != "" {
			pairs = append(pairs, pair{more, scalar(value)})
		}
		entry := mapping(pairs...)
		entry.Style = yaml.FlowStyle
		all.Content = append(all.Content, entry)
	}
	text := fmt.Sprintf("count: %d\n", len(list))
	for _, line := range head {
		text += line + "\n"
	}
	return cut(text+write(mapping(pair{title, all})), "")
}
