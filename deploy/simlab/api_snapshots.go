package simlab

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
)

// errRunning is GNS3's refusal to export, or take a snapshot of, a project whose nodes are on.
const errRunning = "Project must be stopped in order to export it"

// listSnapshots shows none of a closed project: GNS3 has forgotten them until it is opened.
func (c *call) listSnapshots() {
	views := []snapshotView{}
	if c.project.isOpen() {
		for _, s := range c.project.allSnapshots() {
			views = append(views, s.view(c.project.id))
		}
	}
	c.reply(http.StatusOK, views)
}

func (p *project) allSnapshots() []*snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.snapshots)
}

// createSnapshot saves what the project is, and what its devices have saved.
func (c *call) createSnapshot() {
	var body struct {
		Name *string `json:"name"`
	}
	switch {
	case !c.readJSON(&body):
		return
	case body.Name == nil:
		c.invalid(missing("name"))
		return
	case !c.mustBeOpen():
		return
	case slices.ContainsFunc(c.project.allSnapshots(), func(s *snapshot) bool { return s.name == *body.Name }):
		c.fail(http.StatusConflict, fmt.Sprintf("The snapshot name %s already exists", *body.Name))
		return
	case c.project.running():
		c.fail(http.StatusConflict, errRunning)
		return
	}
	s := &snapshot{id: uuid.NewString(), name: *body.Name, created: time.Now().UTC(), state: c.project.save()}
	c.project.mu.Lock()
	c.project.snapshots = append(c.project.snapshots, s)
	c.project.mu.Unlock()
	c.reply(http.StatusCreated, s.view(c.project.id))
}

// theSnapshot finds the snapshot in the path. It answers itself when there is none, or the project isn't opened.
func (c *call) theSnapshot() *snapshot {
	if !c.mustBeOpen() {
		return nil
	}
	id := canonical(c.r.PathValue("snapshot_id"))
	for _, s := range c.project.allSnapshots() {
		if s.id == id {
			return s
		}
	}
	c.fail(http.StatusNotFound, fmt.Sprintf("Snapshot ID %s doesn't exist", id))
	return nil
}

func (c *call) deleteSnapshot() {
	s := c.theSnapshot()
	if s == nil {
		return
	}
	c.project.mu.Lock()
	c.project.snapshots = slices.DeleteFunc(c.project.snapshots, func(o *snapshot) bool { return o == s })
	c.project.mu.Unlock()
	c.done()
}

// restoreSnapshot puts the project back; all nodes are off afterwards, and their ids are as they were.
func (c *call) restoreSnapshot() {
	s := c.theSnapshot()
	if s == nil {
		return
	}
	if err := c.project.load(s.state); err != nil {
		c.fail(http.StatusConflict, err.Error())
		return
	}
	c.project.hub.publish(event{"snapshot.restored", s.view(c.project.id)})
	c.reply(http.StatusCreated, c.project.view())
}
