package gns3

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gns3copilot/schema"
)

// maxNamesListed bounds how many names an error lists.
const maxNamesListed = 50

// Topology is what a project looks like at one moment. Its JSON is the same for the same lab and can be read back without
// loss; ForModel gives the part of it that a model is shown.
type Topology struct {
	ProjectID string          `json:"project_id"`
	Name      string          `json:"name"`
	Status    string          `json:"status"` // of the project: opened or closed
	Nodes     map[string]Node `json:"nodes"`  // by name, which GNS3 keeps unique in a project
	Links     []Link          `json:"links"`  // ordered by node_a, port_a, link_id
}

// Node is a device, or another thing that can be linked.
type Node struct {
	Server      string   `json:"server"` // host of the GNS3 server
	Name        string   `json:"name"`
	ID          string   `json:"node_id"`
	ConsolePort *int     `json:"console_port"` // null without a console
	ConsoleType string   `json:"console_type"` // telnet, vnc, …, none
	Type        string   `json:"type"`         // GNS3's node type: vpcs, qemu, cloud, …
	Ports       []Port   `json:"ports"`
	Status      string   `json:"status"` // started, stopped, suspended; empty when the project is closed
	X           int      `json:"x"`
	Y           int      `json:"y"`
	Tags        []string `json:"tags"`

	// ConsoleAddress is the host:port of the telnet console, empty when there is none.
	ConsoleAddress string `json:"console_address,omitempty"`
	// Platform is what the lab's author says the device is, in the words used there (cisco_ios_telnet, frr, vpcs, …), or empty.
	Platform string `json:"platform,omitempty"`
}

// Port is a place on a node where a link can end.
type Port struct {
	Name      string `json:"name"`
	ShortName string `json:"short_name"`
	// Place is how GNS3 counts the port. Topologies that were stored before there was one are without.
	Place *Place `json:"place,omitempty"`
}

// Place is the number of an adapter of a node, and that of a port on it.
type Place struct {
	Adapter int `json:"adapter_number"`
	Port    int `json:"port_number"`
}

// Link joins a port of node A with one of node B; nodes are given by name.
type Link struct {
	ID    string `json:"link_id"`
	NodeA string `json:"node_a"`
	PortA string `json:"port_a"`
	NodeB string `json:"node_b"`
	PortB string `json:"port_b"`
	Capture
}

// Topology reads a project with its nodes and links, the three in parallel. The codes are those of Project; a user who may
// see the project but not its nodes or links gets CodeForbidden.
func (c *Client) Topology(ctx context.Context, token, projectID string) (Topology, error) {
	var (
		project  Project
		nodes    []apiNode
		links    []apiLink
		failures [3]error
		wg       sync.WaitGroup
	)
	wg.Go(func() { project, failures[0] = c.Project(ctx, token, projectID) })
	wg.Go(func() { failures[1] = c.getOfProject(ctx, token, projectID, "/nodes", &nodes) })
	wg.Go(func() { failures[2] = c.getOfProject(ctx, token, projectID, "/links", &links) })
	wg.Wait()
	// The project's failure explains the others, so it comes first.
	if i := slices.IndexFunc(failures[:], func(err error) bool { return err != nil }); i >= 0 {
		return Topology{}, fmt.Errorf("read topology: %w", failures[i])
	}

	t := Topology{ProjectID: project.ID, Name: project.Name, Status: project.Status, Nodes: make(map[string]Node, len(nodes))}
	for _, n := range nodes {
		t.Nodes[n.Name] = c.node(n)
	}
	t.Links = joinLinks(nodes, links)
	return t, nil
}

// ForModel gives a copy without what only tools need: the addresses of consoles, the platforms, how GNS3 counts the ports, and the files
// of captures.
func (t Topology) ForModel() Topology {
	t.Nodes = maps.Clone(t.Nodes)
	for name, n := range t.Nodes {
		n.ConsoleAddress, n.Platform = "", ""
		n.Ports = slices.Clone(n.Ports)
		for i := range n.Ports {
			n.Ports[i].Place = nil
		}
		t.Nodes[name] = n
	}
	t.Links = slices.Clone(t.Links)
	for i := range t.Links {
		t.Links[i].CaptureFile = ""
	}
	return t
}

// Find gives the node of that name: exactly that, else the only one that differs in case alone. No such node, or more than
// one, is CodeDeviceUnknown with the names that exist.
func (t Topology) Find(name string) (Node, error) {
	name = strings.TrimSpace(name)
	if n, ok := t.Nodes[name]; ok {
		return n, nil
	}
	names := slices.Sorted(maps.Keys(t.Nodes))
	alike := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return !strings.EqualFold(s, name) })
	switch {
	case len(alike) == 1:
		return t.Nodes[alike[0]], nil
	case len(alike) > 1:
		return Node{}, schema.Errorf(schema.CodeDeviceUnknown, "The name %q fits more than one device: %s.", name, strings.Join(alike, ", ")).
			WithHint("Write the name as it is in the project.")
	case len(names) == 0:
		return Node{}, schema.Errorf(schema.CodeDeviceUnknown, "There is no device %q: the project has no devices.", name)
	}
	more := ""
	if n := len(names) - maxNamesListed; n > 0 {
		names, more = names[:maxNamesListed], fmt.Sprintf(" and %d more", n)
	}
	return Node{}, schema.Errorf(schema.CodeDeviceUnknown, "There is no device %q in this project. Its devices are: %s%s.",
		name, strings.Join(names, ", "), more)
}

// ByID finds a node that was seen before under that name. It fails with CodeDeviceUnknown when it is gone.
func (t Topology) ByID(id, name string) (Node, error) {
	for _, n := range t.Nodes {
		if n.ID == id {
			return n, nil
		}
	}
	return Node{}, schema.Errorf(schema.CodeDeviceUnknown, "The device %q is no longer in this project.", name)
}

// apiLink is a link as GNS3 sends it.
type apiLink struct {
	ID    string    `json:"link_id"`
	Nodes []LinkEnd `json:"nodes"`
	Capture
}

// joinLinks gives the links with the names of their nodes and ports. A link whose node is not in the list was made or lost
// between the two reads and is left out.
func joinLinks(nodes []apiNode, links []apiLink) []Link {
	byID := make(map[string]apiNode, len(nodes))
	for _, n := range nodes {
		byID[n.ID] = n
	}
	joined := make([]Link, 0, len(links))
	for _, l := range links {
		if len(l.Nodes) != 2 {
			continue
		}
		endA, endB := l.Nodes[0], l.Nodes[1]
		a, okA := byID[endA.NodeID]
		b, okB := byID[endB.NodeID]
		if !okA || !okB {
			continue
		}
		joined = append(joined, Link{ID: l.ID, NodeA: a.Name, PortA: a.portName(endA), NodeB: b.Name, PortB: b.portName(endB), Capture: l.Capture})
	}
	slices.SortFunc(joined, func(x, y Link) int {
		return cmp.Or(cmp.Compare(x.NodeA, y.NodeA), cmp.Compare(x.PortA, y.PortA), cmp.Compare(x.ID, y.ID))
	})
	return joined
}
