package simlab

import (
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/google/uuid"

	"gns3copilot/deploy/simlab/fabric"
)

// project is a project: its nodes, its cables and who listens to its changes.
type project struct {
	lab   *Lab
	id    string
	file  string // the name of its file, which renaming doesn't change
	owner string
	// members may use the project as its owner does.
	members []string
	fabric  *fabric.Fabric
	hub     hub

	mu        sync.Mutex
	name      string
	autoClose bool
	opened    bool
	nodes     []*node
	links     []*link
	snapshots []*snapshot
}

// link is a cable between two ports.
type link struct {
	id   string
	ends [2]linkEnd

	mu      sync.Mutex
	capture capture
}

type linkEnd struct {
	node *node
	port portPlace
}

// build makes a project from its blueprint. Nothing in it runs yet.
func (l *Lab) build(b blueprint) (*project, error) {
	p := l.newProject(stableID(b.name), b.name, b.owner)
	p.members = b.members
	for _, plan := range b.nodes {
		p.nodes = append(p.nodes, newNode(l, p, plan, stableID(b.name, plan.name), l.nextNumber()))
	}
	for _, plan := range b.links {
		id := stableID(b.name, fmt.Sprintf("%s:%d-%s:%d", plan.a, plan.aPort, plan.b, plan.bPort))
		ends := [2]linkEnd{p.end(plan.a, plan.aPort), p.end(plan.b, plan.bPort)}
		if err := p.connect(id, ends); err != nil {
			return nil, fmt.Errorf("build %s: %w", b.name, err)
		}
	}
	return p, nil
}

// newProject makes an empty project.
func (l *Lab) newProject(id, name, owner string) *project {
	p := &project{lab: l, id: id, name: name, file: name + ".gns3", owner: owner, fabric: fabric.New()}
	p.fabric.SetPace(l.pace())
	return p
}

func (p *project) end(name string, port int) linkEnd {
	i := slices.IndexFunc(p.nodes, func(n *node) bool { return n.name == name })
	return linkEnd{p.nodes[i], p.nodes[i].ports()[port]}
}

// connect plugs a cable in.
func (p *project) connect(id string, ends [2]linkEnd) error {
	a, b := ends[0], ends[1]
	if err := p.fabric.Connect(a.node.device.Host(), a.port.iface, b.node.device.Host(), b.port.iface); err != nil {
		return err
	}
	l := &link{id: id, ends: ends}
	p.mu.Lock()
	p.links = append(p.links, l)
	p.mu.Unlock()
	p.hub.publish(event{"link.created", l.view(p.id)})
	return nil
}

// title is the project's name.
func (p *project) title() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name
}

// open makes the project usable. Its nodes stay as they are.
func (p *project) open() {
	p.mu.Lock()
	p.opened = true
	p.mu.Unlock()
	p.lab.hub.publish(event{"project.opened", p.view()})
}

// close stops all nodes, as GNS3 does.
func (p *project) close() {
	p.mu.Lock()
	wasOpen := p.opened
	p.opened = false
	nodes := slices.Clone(p.nodes)
	p.mu.Unlock()
	for _, n := range nodes {
		n.halt()
	}
	for _, l := range p.allLinks() {
		l.forgetCapture()
	}
	if wasOpen {
		p.lab.hub.publish(event{"project.closed", p.view()})
	}
}

func (p *project) isOpen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}

func (p *project) allNodes() []*node {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.nodes)
}

func (p *project) allLinks() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.links)
}

func (p *project) node(id string) *node {
	for _, n := range p.allNodes() {
		if n.id == id {
			return n
		}
	}
	return nil
}

// startConfig is what a new device of a kind begins with.
func startConfig(kind, name string) string {
	if kind == kindVPCS {
		return "set pcname " + name + "\n"
	}
	return iosConfig(name, "")
}

// add makes a node that didn't exist at the start; its id is random, and its name made unique as GNS3 does. Without a config it is as new.
func (p *project) add(kind, base string, x, y int, config string) (*node, error) {
	p.mu.Lock()
	name, err := uniqueName(base, p.names(nil))
	if err != nil {
		p.mu.Unlock()
		return nil, err
	}
	if config == "" {
		config = startConfig(kind, name)
	}
	n := newNode(p.lab, p, nodePlan{name, kind, x, y, config}, uuid.NewString(), p.lab.nextNumber())
	p.nodes = append(p.nodes, n)
	p.mu.Unlock()
	if err := n.reservePort(); err != nil {
		return nil, fmt.Errorf("add %s: %w", name, err)
	}
	p.hub.publish(event{"node.created", n.view(false)})
	return n, nil
}

// reservePort gives a node its console's number, which it has before it is started.
func (n *node) reservePort() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.port != 0 {
		return nil
	}
	port, err := freePort(n.lab.consoleHost)
	n.port = port
	return err
}

func freePort(host string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// remove takes a node away, with its cables.
func (p *project) remove(n *node) {
	n.halt()
	for _, l := range p.allLinks() {
		if l.ends[0].node == n || l.ends[1].node == n {
			p.disconnect(l)
		}
	}
	p.mu.Lock()
	p.nodes = slices.DeleteFunc(p.nodes, func(o *node) bool { return o == n })
	p.mu.Unlock()
	p.fabric.Remove(n.device.Host())
	p.hub.publish(event{"node.deleted", n.view(false)})
}

// disconnect pulls a cable out. It reports false when it was gone already.
func (p *project) disconnect(l *link) bool {
	p.mu.Lock()
	before := len(p.links)
	p.links = slices.DeleteFunc(p.links, func(o *link) bool { return o == l })
	gone := len(p.links) < before
	p.mu.Unlock()
	if gone {
		l.stopCapture()
		p.fabric.Disconnect(l.ends[0].node.device.Host(), l.ends[0].port.iface)
		p.hub.publish(event{"link.deleted", l.view(p.id)})
	}
	return gone
}

// changed tells the listeners about a node.
func (p *project) changed(n *node) { p.hub.publish(event{"node.updated", n.view(false)}) }
