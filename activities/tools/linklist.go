package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gns3copilot/activities/gns3"
)

// linkListSchema is the schema of a tool that takes a list of links, each by its id or by its ends.
func linkListSchema() json.RawMessage {
	return json.RawMessage(`{
		"type": "object",
		"properties": {
			"project_id": {"type": "string", "description": "May be left out: it is always the current project."},
			"link_ids": {
				"type": "array", "minItems": 1, "maxItems": 100, "description": "The links' link_id.",
				"items": {"type": "string", "minLength": 1, "maxLength": 200}
			},
			"links": {
				"type": "array", "minItems": 1, "maxItems": 100, "description": "In place of link_ids: the links' ends.",
				"items": {
					"type": "object",
					"properties": {
						"node_id1": {"type": "string", "minLength": 1, "maxLength": 200, "description": "A node's name, or its node_id."},
						"port1": {"type": "string", "maxLength": 200, "description": "May be left out, with port2, where one link alone joins the nodes."},
						"node_id2": {"type": "string", "minLength": 1, "maxLength": 200},
						"port2": {"type": "string", "maxLength": 200}
					},
					"required": ["node_id1", "node_id2"],
					"additionalProperties": false
				}
			}
		},
		"oneOf": [{"required": ["link_ids"]}, {"required": ["links"]}],
		"additionalProperties": false
	}`)
}

// linkList turns a single link_id into a list.
func linkList(args map[string]json.RawMessage) error {
	if _, has := args["link_ids"]; !has && args["link_id"] != nil {
		args["link_ids"] = args["link_id"]
		delete(args, "link_id")
	}
	asList(args, "link_ids")
	return nil
}

// ends names a link by its ends, as a call writes it.
type ends struct {
	NodeID1 string `json:"node_id1"`
	Port1   string `json:"port1"`
	NodeID2 string `json:"node_id2"`
	Port2   string `json:"port2"`
}

// String names the link as the call wrote it.
func (e ends) String() string {
	return strings.TrimSpace(e.NodeID1+" "+e.Port1) + " - " + strings.TrimSpace(e.NodeID2+" "+e.Port2)
}

// linkName names a link of the lab.
func linkName(l gns3.Link) string {
	return fmt.Sprintf("%s %s - %s %s", l.NodeA, l.PortA, l.NodeB, l.PortB)
}

// eachLink makes a change for each link that a call names. How many there are follows from the arguments alone.
func eachLink(lab gns3.Topology, args json.RawMessage, change func(gns3.Link) LabChange) ([]LabChange, error) {
	var parsed struct {
		LinkIDs []string `json:"link_ids"`
		Links   []ends   `json:"links"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	var plan []LabChange
	add := func(l gns3.Link, err error, written string) {
		c := LabChange{Problem: err, What: "nothing", Item: written}
		if err == nil {
			c = change(l)
			c.Item, c.ID = cmp.Or(linkName(l), written), l.ID
		}
		plan = append(plan, c)
	}
	for i, id := range parsed.LinkIDs {
		if !slices.Contains(parsed.LinkIDs[:i], id) {
			l, err := lab.LinkByID(id)
			add(l, err, strings.TrimSpace(id))
		}
	}
	for _, e := range parsed.Links {
		l, err := findLink(lab, e)
		add(l, err, e.String())
	}
	return plan, nil
}

func findLink(lab gns3.Topology, e ends) (gns3.Link, error) {
	a, err := node(lab, e.NodeID1)
	if err != nil {
		return gns3.Link{}, err
	}
	b, err := node(lab, e.NodeID2)
	if err != nil {
		return gns3.Link{}, err
	}
	return lab.LinkBetween(a.Name, e.Port1, b.Name, e.Port2)
}
