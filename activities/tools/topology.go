package tools

import (
	"context"
	_ "embed"
	"encoding/json"

	"gns3copilot/schema"
)

//go:embed topology.md
var topologyText string

// TopologyReader gives the model the lab as it is now: the project, its nodes and its links.
type TopologyReader struct{}

var _ Tool = TopologyReader{}

// Metadata describes the tool.
func (TopologyReader) Metadata() Metadata {
	return metadata("gns3_topology_reader", topologyText, CategoryLab)
}

// Schema describes the arguments: none is needed.
func (TopologyReader) Schema() json.RawMessage { return argumentsSchema("") }

// Execute reads the topology as one item. It fails as the GNS3 server does, and with CodeInvalid for another project.
func (TopologyReader) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	if err := OwnProject(args, env.Ref.ProjectID); err != nil {
		return nil, err
	}
	topology, err := env.Topology(ctx)
	if err != nil {
		return nil, err
	}
	return []schema.ToolItem{{
		ID: env.Ref.ProjectID, Name: topology.Name, Status: schema.ItemSuccess, Result: string(schema.Text(topology.ForModel())),
	}}, nil
}

// OwnProject refuses a call that names another project than the turn's, with CodeToolArguments.
func OwnProject(args json.RawMessage, projectID string) error {
	var named struct {
		ProjectID string `json:"project_id"`
	}
	if err := json.Unmarshal(args, &named); err != nil {
		return badArguments(err)
	}
	if named.ProjectID != "" && named.ProjectID != projectID {
		return schema.Errorf(schema.CodeToolArguments, "project_id %q is not this conversation's project.", named.ProjectID).
			WithHint("Leave project_id out.")
	}
	return nil
}
