package tools

import (
	"encoding/json"
	"slices"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

// nodeListTool is what tools that change a list of nodes have in common.
type nodeListTool struct{ labTool }

// Schema describes the arguments.
func (nodeListTool) Schema() json.RawMessage {
	return argumentsSchema(`
		"node_ids": {
			"type": "array", "minItems": 1, "maxItems": 100, "description": "Names of nodes, or their node_id.",
			"items": {"type": "string", "minLength": 1, "maxLength": 200}
		}`, "node_ids")
}

// Normalize also accepts a single node, and other names for the list.
func (nodeListTool) Normalize(args map[string]json.RawMessage) error {
	for _, name := range []string{"node_names", "nodes", "device_names", "node_id", "node_name"} {
		if _, has := args["node_ids"]; !has && args[name] != nil {
			args["node_ids"] = args[name]
			delete(args, name)
		}
	}
	asList(args, "node_ids")
	return nil
}

// asList makes a list of a single text.
func asList(args map[string]json.RawMessage, name string) {
	var one string
	if json.Unmarshal(args[name], &one) == nil {
		args[name] = schema.Text([]string{one})
	}
}

// eachNode makes a change for each node that a call names. How many there are follows from the names alone: one for those that are the same.
// A node that is named in several ways is changed once.
func eachNode(lab gns3.Topology, args json.RawMessage, change func(gns3.Node) LabChange) ([]LabChange, error) {
	var parsed struct {
		NodeIDs []string `json:"node_ids"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	var plan []LabChange
	for i, name := range parsed.NodeIDs {
		if slices.Contains(parsed.NodeIDs[:i], name) {
			continue
		}
		n, err := node(lab, name)
		c := LabChange{Problem: err}
		if err == nil {
			c = change(n)
			if planned(plan, n.ID) {
				c.Problem = twice(n.Name)
			}
		}
		plan = append(plan, aboutNode(c, n, name))
	}
	return plan, nil
}
