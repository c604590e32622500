package skills

import (
	"regexp"
	"slices"
	"strings"

	"gns3copilot/schema"
)

// titlePrompt is the file of the instructions for titles; those of the modes are named as the modes are.
const titlePrompt = "title"

// topologyPlace is where a prompt wants the lab's topology.
const topologyPlace = "{{topology_info}}"

// placeholder is anything that a prompt wants to be filled in.
var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_.]*)\s*\}\}`)

// topologyAtEnd is what a prompt gets that has no place for the topology.
const topologyAtEnd = "\n\nThe project's topology, as JSON:\n\n" + topologyPlace + "\n"

// promptNames are the prompts that are used.
func promptNames() []string {
	return []string{string(schema.ModeTeaching), string(schema.ModeAutomation), string(schema.ModeInjection), titlePrompt}
}

// prompts reads the instructions; those that can't be used are "".
func (r *reader) prompts() map[string]string {
	files, _ := r.list(promptDir, ".md")
	prompts := map[string]string{}
	for _, file := range files {
		name := stem(file)
		if !slices.Contains(promptNames(), name) {
			r.fault(file, "nothing uses a prompt of this name: there are %s", strings.Join(promptNames(), ", "))
			continue
		}
		prompts[name] = ""
		text, ok := r.text(file)
		if !ok {
			continue
		}
		if strings.TrimSpace(text) == "" {
			r.fault(file, "it is empty")
			continue
		}
		prompts[name] = r.prompt(file, text, name != titlePrompt)
	}
	return prompts
}

// prompt makes one spelling of the place for the topology, makes one where there is none, and leaves out, with a word about each, what nobody
// fills in.
func (r *reader) prompt(file, text string, withTopology bool) string {
	var unknown []string
	placed := false
	text = placeholder.ReplaceAllStringFunc(text, func(place string) string {
		name := placeholder.FindStringSubmatch(place)[1]
		if withTopology && "{{"+name+"}}" == topologyPlace {
			placed = true
			return topologyPlace
		}
		if !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
			r.fault(file, "the placeholder {{%s}} isn't known here and was left out", name)
		}
		return ""
	})
	if withTopology && !placed {
		text = strings.TrimRight(text, "\n ") + topologyAtEnd
	}
	return text
}

// System is the system prompt of a mode for a lab, whose topology is JSON, or empty when it could not be read.
func (s *Set) System(mode schema.Mode, topology string) string {
	if topology == "" {
		topology = "(The topology could not be read. Use gns3_topology_reader.)"
	}
	return strings.ReplaceAll(s.prompts[string(mode)], topologyPlace, topology)
}

// Title is the system prompt for making a session's title.
func (s *Set) Title() string { return s.prompts[titlePrompt] }
