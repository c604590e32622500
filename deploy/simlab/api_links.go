package simlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"gns3copilot/deploy/simlab/fabric"
)

func (c *call) listLinks() {
	opened := c.project.isOpen()
	views := []any{}
	for _, l := range c.project.allLinks() {
		if opened {
			views = append(views, l.view(c.project.id))
		} else {
			views = append(views, l.saved())
		}
	}
	c.reply(http.StatusOK, views)
}

func (c *call) getLink() {
	if !c.mustBeOpen() {
		return
	}
	if l := c.theLink(); l != nil {
		c.reply(http.StatusOK, l.detail(c.project.id))
	}
}

// theLink finds the link in the path. It answers itself when there is none.
func (c *call) theLink() *link {
	id := canonical(c.r.PathValue("link_id"))
	for _, l := range c.project.allLinks() {
		if l.id == id {
			return l
		}
	}
	c.fail(http.StatusNotFound, fmt.Sprintf("Link ID %s doesn't exist", id))
	return nil
}

func (c *call) deleteLink() {
	if !c.mustBeOpen() {
		return
	}
	if l := c.theLink(); l != nil {
		c.project.disconnect(l)
		c.done()
	}
}

// linkNode is one end of a new link.
type linkNode struct {
	NodeID  *string `json:"node_id"`
	Adapter *int    `json:"adapter_number"`
	Port    *int    `json:"port_number"`
}

// problems says what an end lacks.
func (n linkNode) problems(at place) []string {
	var all []string
	if n.NodeID == nil {
		all = append(all, missingAt(at.under("node_id")))
	} else {
		all = append(all, badUUID(at.under("node_id"), *n.NodeID)...)
	}
	if n.Adapter == nil {
		all = append(all, missingAt(at.under("adapter_number")))
	}
	if n.Port == nil {
		all = append(all, missingAt(at.under("port_number")))
	}
	return all
}

// readLink reads the two ends of a new link. It answers itself when it reports false.
func (c *call) readLink() ([2]linkNode, bool) {
	var body struct {
		Nodes *[]json.RawMessage `json:"nodes"`
	}
	var ends [2]linkNode
	if !c.readJSON(&body) {
		return ends, false
	}
	at := place{"body", "nodes"}
	var problems []string
	switch {
	case body.Nodes == nil:
		problems = []string{missingAt(at)}
	case len(*body.Nodes) < len(ends):
		problems = []string{wrongType(at, "too_short", fmt.Sprintf("List should have at least 2 items after validation, not %d", len(*body.Nodes)))}
	case len(*body.Nodes) > len(ends):
		problems = []string{wrongType(at, "too_long", fmt.Sprintf("List should have at most 2 items after validation, not %d", len(*body.Nodes)))}
	default:
		for i, raw := range *body.Nodes {
			if problem := readValue(raw, &ends[i], at.under(i)); problem != "" {
				problems = append(problems, problem)
				continue
			}
			problems = append(problems, ends[i].problems(at.under(i))...)
		}
	}
	if len(problems) > 0 {
		c.invalid(problems...)
	}
	return ends, len(problems) == 0
}

// createLink puts a cable between two free ports.
func (c *call) createLink() {
	wanted, ok := c.readLink()
	if !ok || !c.mustBeOpen() {
		return
	}
	var ends [2]linkEnd
	for i, want := range wanted {
		id := canonical(*want.NodeID)
		n := c.project.node(id)
		if n == nil {
			c.fail(http.StatusNotFound, fmt.Sprintf("Node ID %s doesn't exist", id))
			return
		}
		place, ok := n.portAt(*want.Adapter, *want.Port)
		if !ok {
			c.fail(http.StatusNotFound, fmt.Sprintf("Port %d/%d for %s not found", *want.Adapter, *want.Port, n.title()))
			return
		}
		ends[i] = linkEnd{n, place}
	}
	if ends[0].node == ends[1].node {
		c.fail(http.StatusConflict, "Cannot connect to itself")
		return
	}
	id := uuid.NewString()
	if err := c.project.connect(id, ends); err != nil {
		message := err.Error()
		if errors.Is(err, fabric.ErrCabled) {
			message = "Port is already used"
		}
		c.fail(http.StatusConflict, message)
		return
	}
	links := c.project.allLinks()
	i := slices.IndexFunc(links, func(l *link) bool { return l.id == id })
	c.reply(http.StatusCreated, links[i].detail(c.project.id))
}

// portAt finds a port by its numbers.
func (n *node) portAt(adapter, number int) (portPlace, bool) {
	for _, p := range n.ports() {
		if p.adapter == adapter && p.number == number {
			return p, true
		}
	}
	return portPlace{}, false
}
