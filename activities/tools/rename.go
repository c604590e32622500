package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

//go:embed rename.md
var renameText string

// RenameNodes gives nodes other names.
type RenameNodes struct{ labTool }

var (
	_ Tool       = RenameNodes{}
	_ LabChanger = RenameNodes{}
)

// Metadata describes the tool.
func (RenameNodes) Metadata() Metadata {
	return metadata("update_gns3_node_name", renameText, CategoryLab)
}

// Schema describes the arguments.
func (RenameNodes) Schema() json.RawMessage {
	return argumentsSchema(`
		"nodes": {
			"type": "array", "minItems": 1, "maxItems": 100,
			"items": {
				"type": "object",
				"properties": {
					"node_id": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The node's name, or its node_id."},
					"new_name": {"type": "string", "minLength": 1, "maxLength": 200}
				},
				"required": ["node_id", "new_name"],
				"additionalProperties": false
			}
		}`, "nodes")
}

// Plan lists the names to change. A name that another node has isn't tried: GNS3 would choose another without a word.
func (RenameNodes) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	var parsed struct {
		Nodes []struct {
			NodeID  string `json:"node_id"`
			NewName string `json:"new_name"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	var plan []LabChange
	given := map[string]bool{}
	for _, r := range parsed.Nodes {
		name := withoutBlanks(r.NewName)
		n, err := node(shown, r.NodeID)
		c := LabChange{Problem: err, What: fmt.Sprintf("rename %s to %s", n.Name, name), Do: renameNode(n, name)}
		other, taken := shown.Nodes[name]
		switch {
		case err != nil:
		case planned(plan, n.ID):
			c.Problem = twice(n.Name)
		case taken && other.ID != n.ID:
			c.Problem = schema.Errorf(schema.CodeConflict, "There is another node %s. Nothing was renamed.", name).WithHint("Choose another name.")
		case given[name]:
			c.Problem = schema.Errorf(schema.CodeConflict, "This call gives the name %s to another node. This one was not renamed.", name).WithHint("Choose another name.")
		default:
			given[name] = true
		}
		plan = append(plan, aboutNode(c, n, r.NodeID))
	}
	return plan, nil
}

func renameNode(n gns3.Node, name string) func(context.Context, Access) (schema.ToolItem, error) {
	return func(ctx context.Context, lab Access) (schema.ToolItem, error) {
		now, err := lab.RenameNode(ctx, lab.Token, lab.ProjectID, n.ID, name)
		if err != nil {
			return schema.ToolItem{}, err
		}
		item := nodeResult(now, map[string]any{"old_name": n.Name, "new_name": now.Name})
		if now.Name != name {
			item = misnamed(item, fmt.Sprintf("GNS3 gave it the name %s in place of %s.", now.Name, name))
		}
		return item, nil
	}
}
