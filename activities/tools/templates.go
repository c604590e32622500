package tools

import (
	"context"
	_ "embed"
	"encoding/json"

	"gns3copilot/schema"
)

//go:embed templates.md
var templatesText string

// Templates lists what nodes can be made from.
type Templates struct{}

var _ Tool = Templates{}

// Metadata describes the tool.
func (Templates) Metadata() Metadata {
	return metadata("get_gns3_templates", templatesText, CategoryLab)
}

// Schema describes the arguments: none is needed.
func (Templates) Schema() json.RawMessage { return TopologyReader{}.Schema() }

// Execute gives an item for each template. It fails as the GNS3 server does.
func (Templates) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	if err := OwnProject(args, env.Ref.ProjectID); err != nil {
		return nil, err
	}
	lab, err := env.Lab(ctx)
	if err != nil {
		return nil, err
	}
	templates, err := lab.Templates(ctx, lab.Token)
	if err != nil {
		return nil, err
	}
	items := make([]schema.ToolItem, len(templates))
	for i, t := range templates {
		items[i] = schema.ToolItem{ID: t.ID, Name: t.Name, Status: schema.ItemSuccess, Result: string(schema.Text(t))}
	}
	return items, nil
}
