package gns3

import (
	"fmt"
	"slices"
	"strings"

	"gns3copilot/schema"
)

// String writes a place as "adapter/port", and one that isn't known as nothing.
func (p *Place) String() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.Adapter, p.Port)
}

// FindPort gives a node's port by its name, its short name or its numbers ("0/1"): exactly, else by the only one that differs in case
// alone. No such port, or more than one, is CodeDeviceUnknown with the ports that exist.
func (n Node) FindPort(name string) (Port, error) {
	name = strings.TrimSpace(name)
	exactly := func(a, b string) bool { return a == b }
	for _, same := range []func(a, b string) bool{exactly, strings.EqualFold} {
		// A name comes before a short name, and that before numbers, which can look like the name of another port.
		for _, written := range []func(Port) string{
			func(p Port) string { return p.Name },
			func(p Port) string { return p.ShortName },
			func(p Port) string { return p.Place.String() },
		} {
			found := slices.DeleteFunc(slices.Clone(n.Ports), func(p Port) bool { return name == "" || !same(written(p), name) })
			switch len(found) {
			case 0:
				continue
			case 1:
				return found[0], nil
			}
			return Port{}, schema.Errorf(schema.CodeDeviceUnknown, "The device %s has more than one port that %q fits.", n.Name, name).
				WithHint("Write the port as it is in the project, or by its numbers, such as %s.", found[0].Place)
		}
	}
	return Port{}, n.noPort(name)
}

func (n Node) noPort(name string) error {
	if len(n.Ports) == 0 {
		return schema.Errorf(schema.CodeDeviceUnknown, "The device %s has no port %q: it has no ports.", n.Name, name)
	}
	labels := make([]string, 0, len(n.Ports))
	for _, p := range n.Ports {
		labels = append(labels, p.Name)
	}
	more := ""
	if left := len(labels) - maxNamesListed; left > 0 {
		labels, more = labels[:maxNamesListed], fmt.Sprintf(" and %d more", left)
	}
	return schema.Errorf(schema.CodeDeviceUnknown, "The device %s has no port %q. Its ports are: %s%s.", n.Name, name, strings.Join(labels, ", "), more)
}

// End gives the place where a link can end, by the names of a node and a port of it. It fails as Find and FindPort do, and with
// CodeConflict when the topology was stored without the ports' numbers.
func (t Topology) End(node, port string) (LinkEnd, error) {
	n, err := t.Find(node)
	if err != nil {
		return LinkEnd{}, err
	}
	p, err := n.FindPort(port)
	if err != nil {
		return LinkEnd{}, err
	}
	if p.Place == nil {
		return LinkEnd{}, schema.Errorf(schema.CodeConflict, "The numbers of the port %s of %s aren't known.", p.Name, n.Name).
			WithHint("Read the topology again.")
	}
	return LinkEnd{NodeID: n.ID, Adapter: p.Place.Adapter, Port: p.Place.Port}, nil
}

// LinkAt gives the link at a port of a node, both by the names that the topology has, if there is one.
func (t Topology) LinkAt(node, port string) (Link, bool) {
	i := slices.IndexFunc(t.Links, func(l Link) bool {
		return l.NodeA == node && l.PortA == port || l.NodeB == node && l.PortB == port
	})
	if i < 0 {
		return Link{}, false
	}
	return t.Links[i], true
}

// LinkByID gives the link with that id. None is CodeNotFound with the links that exist.
func (t Topology) LinkByID(id string) (Link, error) {
	i := slices.IndexFunc(t.Links, func(l Link) bool { return strings.EqualFold(l.ID, strings.TrimSpace(id)) })
	if i < 0 {
		return Link{}, t.noLink(fmt.Sprintf("There is no link %q in this project.", id))
	}
	return t.Links[i], nil
}

// LinkBetween gives the link between two ports, in either order, by the names of nodes and ports as Find and FindPort take them. With both
// ports left empty it gives the only link between the two nodes. None, or more than one, is CodeNotFound with the links that exist.
func (t Topology) LinkBetween(nodeA, portA, nodeB, portB string) (Link, error) {
	a, err := t.nameEnd(nodeA, portA)
	if err != nil {
		return Link{}, err
	}
	b, err := t.nameEnd(nodeB, portB)
	if err != nil {
		return Link{}, err
	}
	var found []Link
	for _, l := range t.Links {
		x, y := linkEnd{l.NodeA, l.PortA}, linkEnd{l.NodeB, l.PortB}
		if a.fits(x) && b.fits(y) || a.fits(y) && b.fits(x) {
			found = append(found, l)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Link{}, t.noLink(fmt.Sprintf("There is more than one link between %s and %s.", a, b))
	}
	return Link{}, t.noLink(fmt.Sprintf("There is no link between %s and %s.", a, b))
}

// linkEnd is an end of a link by the topology's names; without a port it is any port of the node.
type linkEnd struct{ node, port string }

func (e linkEnd) fits(l linkEnd) bool { return e.node == l.node && (e.port == "" || e.port == l.port) }

func (e linkEnd) String() string { return strings.TrimSpace(e.node + " " + e.port) }

func (t Topology) nameEnd(node, port string) (linkEnd, error) {
	n, err := t.Find(node)
	if err != nil || strings.TrimSpace(port) == "" {
		return linkEnd{node: n.Name}, err
	}
	p, err := n.FindPort(port)
	return linkEnd{n.Name, p.Name}, err
}

func (t Topology) noLink(message string) error {
	if len(t.Links) == 0 {
		return schema.Errorf(schema.CodeNotFound, "%s The project has no links.", message)
	}
	all := make([]string, 0, len(t.Links))
	for _, l := range t.Links {
		all = append(all, fmt.Sprintf("%s %s - %s %s (%s)", l.NodeA, l.PortA, l.NodeB, l.PortB, l.ID))
	}
	more := ""
	if left := len(all) - maxNamesListed; left > 0 {
		all, more = all[:maxNamesListed], fmt.Sprintf(" and %d more", left)
	}
	return schema.Errorf(schema.CodeNotFound, "%s The project's links are: %s%s.", message, strings.Join(all, ", "), more)
}
