package simlab

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
)

// listNodes works on a closed project, too, with what its file has.
func (c *call) listNodes() {
	opened := c.project.isOpen()
	views := []any{}
	for _, n := range c.project.allNodes() {
		if opened {
			views = append(views, n.view(false))
		} else {
			views = append(views, nodeClosed{n.saved(), n.size()})
		}
	}
	c.reply(http.StatusOK, views)
}

// theNode finds the node in the path. It answers itself when there is none, or the project isn't opened.
func (c *call) theNode() *node {
	if !c.mustBeOpen() {
		return nil
	}
	id := canonical(c.r.PathValue("node_id"))
	n := c.project.node(id)
	if n == nil {
		c.fail(http.StatusNotFound, fmt.Sprintf("Node ID %s doesn't exist", id))
	}
	return n
}

// mustBeOpen refuses a closed project in GNS3's words.
func (c *call) mustBeOpen() bool {
	if !c.project.isOpen() {
		c.fail(http.StatusForbidden, "The project is not opened")
		return false
	}
	return true
}

// canonical writes an id, which has been checked, in its usual form.
func canonical(id string) string {
	if parsed, err := uuid.Parse(id); err == nil {
		return parsed.String()
	}
	return id
}

func (c *call) getNode() {
	if n := c.theNode(); n != nil {
		c.reply(http.StatusOK, n.view(true))
	}
}

// updateNode changes a node's name, place and tags. The device's hostname follows where it is saved, as in GNS3.
func (c *call) updateNode() {
	n := c.theNode()
	if n == nil {
		return
	}
	var body struct {
		Name *string   `json:"name"`
		X    *int      `json:"x"`
		Y    *int      `json:"y"`
		Tags *[]string `json:"tags"`
	}
	if !c.readJSON(&body) {
		return
	}
	if body.Name != nil {
		if err := c.project.rename(n, *body.Name); err != nil {
			c.fail(http.StatusConflict, err.Error())
			return
		}
	}
	n.mu.Lock()
	if body.X != nil {
		n.x = *body.X
	}
	if body.Y != nil {
		n.y = *body.Y
	}
	if body.Tags != nil {
		n.tags = *body.Tags
	}
	n.mu.Unlock()
	c.project.changed(n)
	c.reply(http.StatusOK, n.view(false))
}

func (c *call) startNodes() { c.eachNode((*node).start) }

func (c *call) stopNodes() {
	c.eachNode(func(n *node) error { n.halt(); return nil })
}

func (c *call) suspendNodes() {
	c.eachNode(func(n *node) error { n.suspend(); return nil })
}

func (c *call) reloadNodes() { c.eachNode((*node).reload) }

// eachNode does something to the node in the path, or to all nodes of the project when the path names none.
func (c *call) eachNode(do func(*node) error) {
	var nodes []*node
	switch {
	case c.r.PathValue("node_id") != "":
		n := c.theNode()
		if n == nil {
			return
		}
		nodes = []*node{n}
	case !c.mustBeOpen():
		return
	default:
		nodes = c.project.allNodes()
	}
	for _, n := range nodes {
		if err := do(n); err != nil {
			c.lab.log.Error("simulated lab: node failed", "node", n.id, "error", err)
			c.fail(http.StatusConflict, err.Error())
			return
		}
	}
	c.done()
}

func (c *call) deleteNode() {
	if n := c.theNode(); n != nil {
		c.project.remove(n)
		c.done()
	}
}

// spot is the body of a new node.
type spot struct {
	X         *int   `json:"x"`
	Y         *int   `json:"y"`
	Name      string `json:"name"` // read for its type
	ComputeID string `json:"compute_id"`
}

// readSpot reads where a new node is to be. It answers itself when it reports false.
func (c *call) readSpot() (spot, bool) {
	var body spot
	if !c.readJSON(&body) {
		return body, false
	}
	var problems []string
	if body.X == nil {
		problems = append(problems, missing("x"))
	}
	if body.Y == nil {
		problems = append(problems, missing("y"))
	}
	if len(problems) > 0 {
		c.invalid(problems...)
	}
	return body, len(problems) == 0
}

// duplicateNode copies a node with what it has saved, under another name and without its cables.
func (c *call) duplicateNode() {
	n := c.theNode()
	if n == nil {
		return
	}
	body, ok := c.readSpot()
	if !ok {
		return
	}
	twin, err := c.project.add(n.kind, n.title(), *body.X, *body.Y, n.device.Startup())
	if err != nil {
		c.fail(http.StatusConflict, err.Error())
		return
	}
	c.reply(http.StatusCreated, twin.view(true))
}

// createNode makes a node from a template. Only the kinds that the lab can simulate can be made. GNS3 knows a name in the request and takes
// no notice of it.
func (c *call) createNode() {
	body, ok := c.readSpot()
	if !ok || !c.mustBeOpen() {
		return
	}
	id := canonical(c.r.PathValue("template_id"))
	all := templates()
	i := slices.IndexFunc(all, func(t template) bool { return t.TemplateID == id })
	if i < 0 {
		c.fail(http.StatusNotFound, fmt.Sprintf("Template '%s' not found", id))
		return
	}
	if body.ComputeID != "" && body.ComputeID != "local" {
		c.fail(http.StatusNotFound, fmt.Sprintf("Compute ID %s doesn't exist", body.ComputeID))
		return
	}
	t := all[i]
	if !slices.Contains([]string{kindVPCS, kindRouter, kindSwitch}, t.TemplateType) {
		c.fail(http.StatusConflict, fmt.Sprintf("The simulated lab has no %s nodes", t.TemplateType))
		return
	}
	n, err := c.project.add(t.TemplateType, t.DefaultNameFormat, *body.X, *body.Y, "")
	if err != nil {
		c.fail(http.StatusConflict, err.Error())
		return
	}
	c.reply(http.StatusCreated, n.view(true))
}
