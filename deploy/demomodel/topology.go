package demomodel

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// topology is what the model knows of the lab, from its instructions or from a tool's result.
type topology struct {
	Nodes map[string]node `json:"nodes"`
	Links []link          `json:"links"`
}

type node struct {
	Type        string   `json:"type"`
	Status      string   `json:"status"`
	ConsoleType string   `json:"console_type"`
	Tags        []string `json:"tags"`
}

type link struct {
	NodeA string `json:"node_a"`
	PortA string `json:"port_a"`
	NodeB string `json:"node_b"`
	PortB string `json:"port_b"`
}

// kind is how a device is spoken to. It only decides which command a request in plain words becomes.
type kind int

const (
	ios kind = iota // and everything that resembles it
	frr
	vpcs
)

var (
	nodesKey = regexp.MustCompile(`"nodes"\s*:\s*\{`)
	hostName = regexp.MustCompile(`(?i)^(pc|vpc|vpcs|host)[-_ ]?\d*$`)
)

// topologyInText finds the last "nodes" object in a text, and the object around it where that can be read too.
func topologyInText(text string) (topology, bool) {
	places := nodesKey.FindAllStringIndex(text, -1)
	for _, place := range slices.Backward(places) {
		for _, start := range braces(text, place[0]) {
			var t topology
			if decodePrefix(text[start:], &t) && t.Nodes != nil {
				return t, true
			}
		}
		var nodes map[string]node
		if decodePrefix(text[place[1]-1:], &nodes) {
			return topology{Nodes: nodes}, true
		}
	}
	return topology{}, false
}

// braces gives the places of a few opening braces before end, the nearest first.
func braces(text string, end int) []int {
	const tried = 4
	var found []int
	for len(found) < tried {
		end = strings.LastIndexByte(text[:end], '{')
		if end < 0 {
			break
		}
		found = append(found, end)
	}
	return found
}

// decodePrefix reads one JSON value and doesn't mind what follows.
func decodePrefix(text string, v any) bool {
	return json.NewDecoder(strings.NewReader(text)).Decode(v) == nil
}

func (t topology) names() []string { return slices.Sorted(maps.Keys(t.Nodes)) }

// find gives the name as the topology has it.
func (t topology) find(word string) (string, bool) {
	if _, ok := t.Nodes[word]; ok {
		return word, true
	}
	for _, name := range t.names() {
		if strings.EqualFold(name, word) {
			return name, true
		}
	}
	return "", false
}

func (t topology) kindOf(device string) kind {
	n, known := t.Nodes[device]
	if !known {
		if hostName.MatchString(device) {
			return vpcs
		}
		return ios
	}
	tags := strings.ToLower(strings.Join(n.Tags, " "))
	switch {
	case n.Type == "vpcs" || strings.Contains(tags, "vpcs"):
		return vpcs
	case strings.Contains(tags, "device_type:frr"):
		return frr
	}
	return ios
}

// group gives the devices that words such as "all routers" mean. A node without a telnet console is in none.
func (t topology) group(g group) []string {
	return slices.DeleteFunc(t.names(), func(name string) bool {
		n := t.Nodes[name]
		host := t.kindOf(name) == vpcs
		return (n.ConsoleType != "" && n.ConsoleType != "telnet") || (g == hosts && !host) || (g == routers && host)
	})
}
