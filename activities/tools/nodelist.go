package tools

import (
	"encoding/json"

	"gns3copilot/schema"
)

// nodeListSchema is the schema of a tool that takes a list of nodes.
func nodeListSchema() json.RawMessage {
	return json.RawMessage(`{
		"type": "object",
		"properties": {
			` + projectProperty + `,
			"node_ids": {
				"type": "array", "minItems": 1, "maxItems": 100, "description": "Names of nodes, or their node_id.",
				"items": {"type": "string", "minLength": 1, "maxLength": 200}
			}
		},
		"required": ["node_ids"],
		"additionalProperties": false
	}`)
}

// nodeList turns what models write in place of node_ids into it.
func nodeList(args map[string]json.RawMessage) error {
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

func nodeNames(args json.RawMessage) ([]string, error) {
	var parsed struct {
		NodeIDs []string `json:"node_ids"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	return parsed.NodeIDs, nil
}
