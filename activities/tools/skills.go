package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"gns3copilot/activities/skills"
	"gns3copilot/schema"
)

var (
	//go:embed skills_device.md
	deviceSkillsText string
	//go:embed skills_injection.md
	injectionSkillsText string
	//go:embed skills_protocol.md
	protocolSkillsText string
)

// Skills gives the skills in use now: they can be read anew while turns run.
type Skills interface {
	Set() *skills.Set
}

// The names of the tools that read skills.
const (
	DeviceSkillsName    = "device_skills"
	InjectionSkillsName = "injection_skills"
	ProtocolSkillsName  = "packet_analysis_skills"
)

// skillArgs are the arguments of all three tools.
type skillArgs struct {
	Action     string   `json:"action"`
	DeviceType string   `json:"device_type"`
	Protocol   string   `json:"protocol"`
	Category   string   `json:"category"`
	Topic      string   `json:"topic"`
	Detail     string   `json:"detail"`
	Issue      string   `json:"issue"`
	Context    []string `json:"context"`
}

// readSkillArgs gives the arguments; without an action, what names a skill gets it, and what names none lists them.
func readSkillArgs(args json.RawMessage) (a skillArgs, err error) {
	if err := json.Unmarshal(args, &a); err != nil {
		return a, badArguments(err)
	}
	if a.Action == "" {
		a.Action = "list"
		if a.DeviceType+a.Protocol != "" {
			a.Action = "get"
		}
	}
	return a, nil
}

// DeviceSkills lets the model read how to work with kinds of devices.
type DeviceSkills struct{ Skills Skills }

// InjectionSkills lets it read faults for practice.
type InjectionSkills struct{ Skills Skills }

// ProtocolSkills lets it read how to look at protocols in captures.
type ProtocolSkills struct{ Skills Skills }

var (
	_ Tool = DeviceSkills{}
	_ Tool = InjectionSkills{}
	_ Tool = ProtocolSkills{}
)

// Metadata describes the tool.
func (DeviceSkills) Metadata() Metadata {
	return metadata(DeviceSkillsName, deviceSkillsText, CategoryChat)
}

// Metadata describes the tool.
func (InjectionSkills) Metadata() Metadata {
	return metadata(InjectionSkillsName, injectionSkillsText, CategoryChat)
}

// Metadata describes the tool.
func (ProtocolSkills) Metadata() Metadata {
	return metadata(ProtocolSkillsName, protocolSkillsText, CategoryChat)
}

// Schema describes the arguments.
func (DeviceSkills) Schema() json.RawMessage {
	return skillSchema(`
		"device_type": {"type": "string", "maxLength": 200, "description": "The kind of device, as the list or the device's tag names it."},
		"category": {"type": "string", "maxLength": 200, "description": "With list: only this category."},
		"topic": {"type": "string", "maxLength": 200, "description": "One topic of the device, such as ospf."},
		` + partOfSkill)
}

// Schema describes the arguments.
func (InjectionSkills) Schema() json.RawMessage {
	return skillSchema(`
		"context": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 200}, "description": "With list: the protocols that the lab has; only fault sets about them are listed."},
		"device_type": {"type": "string", "maxLength": 200, "description": "The fault set, as the list names it."},
		` + partOfSkill)
}

// Schema describes the arguments.
func (ProtocolSkills) Schema() json.RawMessage {
	return skillSchema(`"protocol": {"type": "string", "maxLength": 200, "description": "The protocol, as the list names it."}`)
}

const partOfSkill = `"detail": {"type": "string", "enum": ["index", "summary", "full"], "description": "index: names only; summary: a few words on each; full: all but topics."},
		"issue": {"type": "string", "maxLength": 200, "description": "One issue by its key, which the index lists."}`

func skillSchema(properties string) json.RawMessage {
	return json.RawMessage(`{
		"type": "object",
		"properties": {
			"project_id": {"type": "string", "description": "May be left out: skills belong to no project."},
			"action": {"type": "string", "enum": ["list", "get"], "description": "May be left out: get when something is named, else list."},
			` + properties + `
		},
		"additionalProperties": false
	}`)
}

// Execute lists the device skills, or gives one as one item. It fails with CodeNotFound for what isn't there, and says what is.
func (t DeviceSkills) Execute(_ context.Context, _ Env, args json.RawMessage) ([]schema.ToolItem, error) {
	a, err := readSkillArgs(args)
	if err != nil {
		return nil, err
	}
	all := t.Skills.Set().Devices
	if a.Action == "list" {
		return skillItem("list", "Device skills", skills.Entries("skills", "device_type", all.All(a.Category), "category"))
	}
	s, err := named(all, "device_type", a.DeviceType)
	if err != nil {
		return nil, err
	}
	if a.Topic != "" && a.Issue == "" {
		text, err := s.Topic(a.Topic)
		if err != nil {
			return nil, err
		}
		return skillItem(s.Key, s.Name, text)
	}
	return part(s, a, "full")
}

// Execute lists the fault sets that have to do with the context, or gives one as one item. It fails with CodeNotFound for what isn't there,
// and says what is.
func (t InjectionSkills) Execute(_ context.Context, _ Env, args json.RawMessage) ([]schema.ToolItem, error) {
	a, err := readSkillArgs(args)
	if err != nil {
		return nil, err
	}
	all := t.Skills.Set().Injections
	if a.Action == "list" {
		list := all.All("")
		head := []string{fmt.Sprintf("total_available: %d", len(list))}
		if len(a.Context) > 0 {
			list = all.About(a.Context)
		}
		if len(list) == 0 {
			head = append(head, "available: ["+strings.Join(all.Keys(), ", ")+"]")
		}
		return skillItem("list", "Fault sets", skills.Entries("fault_types", "device_type", list, "category", head...))
	}
	s, err := named(all, "device_type", a.DeviceType)
	if err != nil {
		return nil, err
	}
	return part(s, a, "index")
}

// Execute lists the protocols, or gives one as one item. It fails with CodeNotFound for what isn't there, and says what is.
func (t ProtocolSkills) Execute(_ context.Context, _ Env, args json.RawMessage) ([]schema.ToolItem, error) {
	a, err := readSkillArgs(args)
	if err != nil {
		return nil, err
	}
	all := t.Skills.Set().Protocols
	if a.Action == "list" {
		return skillItem("list", "Protocols", skills.Entries("protocols", "protocol", all.All(""), "description"))
	}
	s, err := named(all, "protocol", a.Protocol)
	if err != nil {
		return nil, err
	}
	return part(s, a, "full")
}

// named finds the skill that a field of the arguments names.
func named(all skills.Catalog, field, key string) (skills.Skill, error) {
	if strings.TrimSpace(key) == "" {
		return skills.Skill{}, schema.Errorf(schema.CodeToolArguments, "%s is missing.", field).
			WithHint("There are: %s.", schema.CutText(strings.Join(all.Keys(), ", "), 4000))
	}
	return all.Find(key)
}

// part gives the issue that is asked for, else as much of the skill as detail says.
func part(s skills.Skill, a skillArgs, otherwise string) ([]schema.ToolItem, error) {
	if a.Issue != "" {
		text, err := s.Issue(a.Issue)
		if err != nil {
			return nil, err
		}
		return skillItem(s.Key, s.Name, text)
	}
	if a.Detail == "" {
		a.Detail = otherwise
	}
	switch a.Detail {
	case "index":
		return skillItem(s.Key, s.Name, s.Index())
	case "summary":
		return skillItem(s.Key, s.Name, s.Summary())
	}
	return skillItem(s.Key, s.Name, s.Full())
}

func skillItem(id, name, text string) ([]schema.ToolItem, error) {
	return []schema.ToolItem{{ID: id, Name: name, Status: schema.ItemSuccess, Result: text}}, nil
}
