// Package prompt holds what the model is told before the conversation begins: one text for each mode, and one for titles.
package prompt

import (
	"embed"
	"strings"

	"gns3copilot/schema"
)

//go:embed *.md
var texts embed.FS

// topologyPlace is where a prompt wants the lab's topology.
const topologyPlace = "{{topology_info}}"

// System is the system prompt of a mode for a lab, whose topology is JSON, or empty when it could not be read.
func System(mode schema.Mode, topology string) string {
	section := "(The topology could not be read. Use gns3_topology_reader.)"
	if topology != "" {
		section = topology
	}
	return strings.ReplaceAll(read(string(mode)), topologyPlace, section)
}

// Title is the system prompt for making a session's title.
func Title() string { return read("title") }

// read gives an embedded text. A missing one is a defect of the build, which a test looks for.
func read(name string) string {
	text, err := texts.ReadFile(name + ".md")
	if err != nil {
		panic("prompt: " + err.Error())
	}
	return string(text)
}
