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
	lab    *Lab
	id     string
	name   string
	owner  string
	fabric *fabric.Fabric
	hub    hub

	mu     sync.Mutex
	opened bool
	nodes  []*node
	links  []*link
}

// link is a cable between two ports.
type link struct {
	id   string
	ends [2]linkEnd
}

type linkEnd struct {
	node *node
	port portPlace
}

// build makes a project from its blueprint. Nothing in it runs yet.
func (l *Lab) build(b blueprint) (*project, error) {
	p := &project{lab: l, id: stableID(b.name), name: b.name, owner: b.owner, fabric: fabric.New()}
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links = append(p.links, &link{id: id, ends: ends})
	return nil
}

// open makes the project usable. Its nodes stay as they are.
func (p *project) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened = true
}

// close stops all nodes, as GNS3 does.
func (p *project) close() {
	p.mu.Lock()
	p.opened = false
	nodes := slices.Clone(p.nodes)
	p.mu.Unlock()
	for _, n := range nodes {
		n.halt()
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

// add makes a node that didn't exist at the start; its id is random, and its name made unique as GNS3 does.
func (p *project) add(kind, format, name string, x, y int) (*node, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := map[string]bool{}
	for _, n := range p.nodes {
		n.mu.Lock()
		used[n.name] = true
		n.mu.Unlock()
	}
	for i := 1; name == "" || used[name]; i++ {
		name = fmt.Sprintf(format, i)
	}
	config := "set pcname " + name + "\n"
	if kind == kindRouter {
		config = "hostname " + name + "\n"
	}
	n := newNode(p.lab, p, nodePlan{name, kind, x, y, config}, uuid.NewString(), p.lab.nextNumber())
	if n.port == 0 {
		// A node has its console's number before it is started.
		port, err := freePort(p.lab.consoleHost)
		if err != nil {
			return nil, fmt.Errorf("add %s: %w", name, err)
		}
		n.port = port
	}
	p.nodes = append(p.nodes, n)
	return n, nil
}

func freePort(host string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// rename gives a node another name. It reports false when the name is taken.
func (p *project) rename(n *node, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range p.nodes {
		other.mu.Lock()
		taken := other != n && other.name == name
		other.mu.Unlock()
		if taken {
			return false
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.name = name
	return true
}

// changed tells the listeners about a node.
func (p *project) changed(n *node) { p.hub.publish(event{"node.updated", n.view(false)}) }
