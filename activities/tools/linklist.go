package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

// linkListTool is what tools that change a list of links have in common.
type linkListTool struct{ labTool }

// Schema describes the arguments.
func (linkListTool) Schema() json.RawMessage {
	return argumentsSchema(`
		"link_ids": {
			"type": "array", "minItems": 1, "maxItems": 100,
			"description": "Each link's link_id, or its ends, such as \"R1 Ethernet0/0 - R2 Ethernet0/1\"; \"R1 - R2\" where one link alone joins them.",
			"items": {"type": "string", "minLength": 1, "maxLength": 500}
		}`, "link_ids")
}

// Normalize also accepts a single link, and links by their ends as create_gns3_link has them.
func (linkListTool) Normalize(args map[string]json.RawMessage) error {
	for _, name := range []string{"link_id", "links"} {
		if _, has := args["link_ids"]; !has && args[name] != nil {
			args["link_ids"] = args[name]
			delete(args, name)
		}
	}
	var list []ends
	if json.Unmarshal(args["link_ids"], &list) == nil && len(list) > 0 && list[0].NodeID1 != "" {
		names := make([]string, len(list))
		for i, e := range list {
			names[i] = e.String()
		}
		args["link_ids"] = schema.Text(names)
	}
	asList(args, "link_ids")
	return nil
}

// ends names a link by its ends. A node's name has no blanks, in GNS3, and a port's can have some.
type ends struct {
	NodeID1 string `json:"node_id1"`
	Port1   string `json:"port1"`
	NodeID2 string `json:"node_id2"`
	Port2   string `json:"port2"`
}

// String writes a link as a call names it.
func (e ends) String() string {
	return strings.TrimSpace(e.NodeID1+" "+e.Port1) + " - " + strings.TrimSpace(e.NodeID2+" "+e.Port2)
}

// endsOf reads what String writes.
func endsOf(text string) (e ends, ok bool) {
	a, b, ok := strings.Cut(text, " - ")
	e.NodeID1, e.Port1, _ = strings.Cut(strings.TrimSpace(a), " ")
	e.NodeID2, e.Port2, _ = strings.Cut(strings.TrimSpace(b), " ")
	return e, ok && e.NodeID1 != "" && e.NodeID2 != ""
}

// linkName names a link of the lab.
func linkName(l gns3.Link) string { return ends{l.NodeA, l.PortA, l.NodeB, l.PortB}.String() }

// eachLink makes a change for each link that a call names. How many there are follows from the arguments alone.
func eachLink(lab gns3.Topology, args json.RawMessage, change func(gns3.Link) LabChange) ([]LabChange, error) {
	var parsed struct {
		LinkIDs []string `json:"link_ids"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	var plan []LabChange
	for i, written := range parsed.LinkIDs {
		if slices.Contains(parsed.LinkIDs[:i], written) {
			continue
		}
		l, err := findLink(lab, written)
		c := LabChange{Problem: err, What: "nothing", Item: strings.TrimSpace(written)}
		if err == nil {
			c = change(l)
			if planned(plan, l.ID) {
				c.Problem, c.What = twice(linkName(l)), "nothing"
			}
			c.Item, c.ID = linkName(l), l.ID
		}
		plan = append(plan, c)
	}
	return plan, nil
}

// findLink finds a link by its id or its ends.
func findLink(lab gns3.Topology, written string) (gns3.Link, error) {
	e, ok := endsOf(written)
	if !ok {
		return lab.LinkByID(written)
	}
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
