package simlab

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// savedProject is a project as its file has it, with what the devices have saved.
type savedProject struct {
	nodes []savedNode
	links []savedLink
}

type savedNode struct {
	plan         nodePlan
	id           string
	number, port int
	tags         []string
}

type savedLink struct {
	id   string
	ends [2]savedEnd
}

type savedEnd struct {
	node            string
	adapter, number int
}

// snapshot is a saved state of a project that it can go back to.
type snapshot struct {
	id, name string
	created  time.Time
	state    savedProject
}

// snapshotView is a snapshot in a reply; snapshotEvent is one in a notification.
type snapshotView struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	SnapshotID  string `json:"snapshot_id"`
	ProjectID   string `json:"project_id"`
	Filename    string `json:"filename"`
	CreatedAt   int64  `json:"created_at"`
}

func (s *snapshot) view(projectID string) snapshotView {
	return snapshotView{
		Name: s.name, Description: fmt.Sprintf("Snapshot '%s' taken on %s", s.name, s.created.Format("2006-01-02 at 15:04:05")),
		SnapshotID: s.id, ProjectID: projectID, Filename: s.name + ".gns3snapshot", CreatedAt: s.created.Unix(),
	}
}

// running reports whether a node is on or suspended.
func (p *project) running() bool {
	return slices.ContainsFunc(p.allNodes(), func(n *node) bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.state != stateStopped
	})
}

// save takes down what the project is.
func (p *project) save() savedProject {
	var s savedProject
	for _, n := range p.allNodes() {
		n.mu.Lock()
		s.nodes = append(s.nodes, savedNode{
			plan: nodePlan{n.name, n.kind, n.x, n.y, n.device.Startup()}, id: n.id, number: n.number, port: n.port, tags: slices.Clone(n.tags),
		})
		n.mu.Unlock()
	}
	for _, l := range p.allLinks() {
		saved := savedLink{id: l.id}
		for i, e := range l.ends {
			saved.ends[i] = savedEnd{e.node.id, e.port.adapter, e.port.number}
		}
		s.links = append(s.links, saved)
	}
	return s
}

// twin is the same with other ids, for another project.
func (s savedProject) twin(next func() int) savedProject {
	ids := map[string]string{}
	copied := savedProject{nodes: slices.Clone(s.nodes), links: slices.Clone(s.links)}
	for i := range copied.nodes {
		n := &copied.nodes[i]
		ids[n.id] = uuid.NewString()
		n.id, n.number, n.port = ids[n.id], next(), 0
	}
	for i := range copied.links {
		l := &copied.links[i]
		l.id = uuid.NewString()
		for e := range l.ends {
			l.ends[e].node = ids[l.ends[e].node]
		}
	}
	return copied
}

// load replaces the project's contents. Its nodes are off afterwards.
func (p *project) load(s savedProject) error {
	for _, n := range p.allNodes() {
		n.halt()
		p.fabric.Remove(n.device.Host())
	}
	byID := map[string]*node{}
	var nodes []*node
	for _, saved := range s.nodes {
		n := newNode(p.lab, p, saved.plan, saved.id, saved.number)
		n.tags = saved.tags
		if saved.port != 0 {
			n.port = saved.port
		}
		if err := n.reservePort(); err != nil {
			return err
		}
		nodes, byID[n.id] = append(nodes, n), n
	}
	p.mu.Lock()
	p.nodes, p.links = nodes, nil
	p.mu.Unlock()
	for _, saved := range s.links {
		var ends [2]linkEnd
		for i, e := range saved.ends {
			n := byID[e.node]
			place, _ := n.portAt(e.adapter, e.number)
			ends[i] = linkEnd{n, place}
		}
		if err := p.connect(saved.id, ends); err != nil {
			return err
		}
	}
	return nil
}
