package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

//go:embed createlink.md
var createLinkText string

//go:embed deletelink.md
var deleteLinkText string

// CreateLinks joins ports of nodes.
type CreateLinks struct{ labTool }

// DeleteLinks removes links.
type DeleteLinks struct{ linkListTool }

var (
	_ Tool       = CreateLinks{}
	_ LabChanger = CreateLinks{}
	_ Tool       = DeleteLinks{}
	_ LabChanger = DeleteLinks{}
	_ Normalizer = DeleteLinks{}
)

// Metadata describes the tool.
func (CreateLinks) Metadata() Metadata {
	return metadata("create_gns3_link", createLinkText, CategoryLab)
}

// Schema describes the arguments.
func (CreateLinks) Schema() json.RawMessage {
	return argumentsSchema(`
		"links": {
			"type": "array", "minItems": 1, "maxItems": 100,
			"items": {
				"type": "object",
				"properties": {
					"node_id1": {"type": "string", "minLength": 1, "maxLength": 200, "description": "A node's name, or its node_id."},
					"port1": {"type": "string", "minLength": 1, "maxLength": 200, "description": "A port's name, short name or adapter/port; the first free one otherwise."},
					"node_id2": {"type": "string", "minLength": 1, "maxLength": 200},
					"port2": {"type": "string", "minLength": 1, "maxLength": 200}
				},
				"required": ["node_id1", "node_id2"],
				"additionalProperties": false
			}
		}`, "links")
}

// Plan lists the links to make.
func (CreateLinks) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	var parsed struct {
		Links []ends `json:"links"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	used := freePorts{lab: shown, taken: map[gns3.LinkEnd]bool{}}
	var plan []LabChange
	for _, e := range parsed.Links {
		c := LabChange{Item: e.String(), What: "link " + e.String()}
		a, nameA, errA := used.end(e.NodeID1, e.Port1)
		b, nameB, errB := used.end(e.NodeID2, e.Port2)
		switch {
		case errA != nil:
			c.Problem = errA
		case errB != nil:
			c.Problem = errB
		default:
			c.What = fmt.Sprintf("link %s with %s", nameA, nameB)
			c.Do = createLink(a, b, nameA, nameB)
		}
		plan = append(plan, c)
	}
	return plan, nil
}

func createLink(a, b gns3.LinkEnd, nameA, nameB string) func(context.Context, Access) (schema.ToolItem, error) {
	return func(ctx context.Context, lab Access) (schema.ToolItem, error) {
		id, err := lab.CreateLink(ctx, lab.Token, lab.ProjectID, a, b)
		name := nameA + " - " + nameB
		return schema.ToolItem{ID: id, Name: name, Status: schema.ItemSuccess, Result: string(schema.Text(map[string]string{"link_id": id, "link": name}))}, err
	}
}

// freePorts finds the ports of links that are to be made.
type freePorts struct {
	lab   gns3.Topology
	taken map[gns3.LinkEnd]bool // by links of the same call
}

// end finds a port and its name: the one that is named, if it is free, else the node's first free one.
func (f *freePorts) end(nodeID, port string) (gns3.LinkEnd, string, error) {
	port = strings.TrimSpace(port)
	n, err := node(f.lab, nodeID)
	if err != nil {
		return gns3.LinkEnd{}, "", err
	}
	ports := n.Ports
	if port != "" {
		p, err := n.FindPort(port)
		if err != nil {
			return gns3.LinkEnd{}, "", err
		}
		ports = []gns3.Port{p}
	}
	for _, p := range ports {
		if p.Place == nil {
			continue
		}
		end := gns3.LinkEnd{NodeID: n.ID, Adapter: p.Place.Adapter, Port: p.Place.Port}
		if _, linked := f.lab.LinkAt(n.Name, p.Name); linked || f.taken[end] {
			continue
		}
		f.taken[end] = true
		return end, n.Name + " " + p.Name, nil
	}
	if port != "" {
		return gns3.LinkEnd{}, "", schema.Errorf(schema.CodeConflict, "The port %s of %s has a link already.", ports[0].Name, n.Name).WithHint("Delete that link first, or take another port.")
	}
	return gns3.LinkEnd{}, "", schema.Errorf(schema.CodeConflict, "%s has no free port.", n.Name)
}

// Metadata describes the tool.
func (DeleteLinks) Metadata() Metadata {
	return metadata("delete_gns3_link", deleteLinkText, CategoryLab)
}

// Plan lists the links.
func (DeleteLinks) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	return eachLink(shown, args, func(l gns3.Link) LabChange {
		return LabChange{
			What: "delete the link " + linkName(l),
			Do: func(ctx context.Context, lab Access) (schema.ToolItem, error) {
				return linkResult(l, map[string]any{"status": "deleted"}), lab.DeleteLink(ctx, lab.Token, lab.ProjectID, l.ID)
			},
		}
	})
}

// linkResult is the result of a change of a link.
func linkResult(l gns3.Link, fields map[string]any) schema.ToolItem {
	fields["link_id"], fields["link"] = l.ID, linkName(l)
	return schema.ToolItem{ID: l.ID, Name: linkName(l), Status: schema.ItemSuccess, Result: string(schema.Text(fields))}
}
