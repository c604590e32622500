package tools

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

//go:embed createnode.md
var createNodeText string

// CreateNodes makes nodes from templates.
type CreateNodes struct{ labTool }

var (
	_ Tool       = CreateNodes{}
	_ LabChanger = CreateNodes{}
)

// Metadata describes the tool.
func (CreateNodes) Metadata() Metadata {
	return metadata("create_gns3_node", createNodeText, CategoryLab)
}

// Schema describes the arguments.
func (CreateNodes) Schema() json.RawMessage {
	return argumentsSchema(`
		"nodes": {
			"type": "array", "minItems": 1, "maxItems": 50,
			"items": {
				"type": "object",
				"properties": {
					"template_id": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The template_id, or the template's name."},
					"name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The node's name; the template's own numbering names it otherwise."},
					"x": {"type": "integer", "minimum": -1000000, "maximum": 1000000},
					"y": {"type": "integer", "minimum": -1000000, "maximum": 1000000}
				},
				"required": ["template_id"],
				"additionalProperties": false
			}
		}`, "nodes")
}

// newNode is an entry of nodes.
type newNode struct {
	TemplateID string `json:"template_id"`
	Name       string `json:"name"`
	X          *int   `json:"x"`
	Y          *int   `json:"y"`
}

// Plan lists the nodes to make. One whose name is taken isn't tried: GNS3 would give it another name without a word.
func (CreateNodes) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	var parsed struct {
		Nodes []newNode `json:"nodes"`
	}
	if err := json.Unmarshal(args, &parsed); err != nil {
		return nil, badArguments(err)
	}
	x, y := corner(shown)
	named := map[string]bool{}
	var plan []LabChange
	for i, n := range parsed.Nodes {
		n.Name = withoutBlanks(n.Name)
		at := gns3.NewNode{X: x + (i%perRow)*spacing, Y: y + (i/perRow)*spacing, Name: n.Name}
		if n.X != nil {
			at.X = *n.X
		}
		if n.Y != nil {
			at.Y = *n.Y
		}
		c := LabChange{
			Item: cmp.Or(n.Name, fmt.Sprintf("new node %d", i+1)),
			What: fmt.Sprintf("create a node from %s at %d,%d", n.TemplateID, at.X, at.Y),
			Do:   createNode(n.TemplateID, at),
		}
		if _, taken := shown.Nodes[n.Name]; taken {
			c.Problem = schema.Errorf(schema.CodeConflict, "There is a node %s already. Nothing was created.", n.Name).WithHint("Choose another name.")
		} else if n.Name != "" && named[n.Name] {
			c.Problem = schema.Errorf(schema.CodeConflict, "This call gives the name %s to another node. This one was not created.", n.Name).WithHint("Choose another name.")
		}
		named[n.Name] = true
		plan = append(plan, c)
	}
	return plan, nil
}

// Where nodes go that nobody has placed: rows below the others, as far apart as the symbols and their labels want.
const (
	spacing = 120
	perRow  = 6
)

// corner is the place below and to the left of all nodes.
func corner(lab gns3.Topology) (x, y int) {
	first := true
	for _, n := range lab.Nodes {
		if first {
			x, y, first = n.X, n.Y+spacing, false
		}
		x, y = min(x, n.X), max(y, n.Y+spacing)
	}
	return x, y
}

func createNode(template string, at gns3.NewNode) func(context.Context, Access) (schema.ToolItem, error) {
	return func(ctx context.Context, lab Access) (schema.ToolItem, error) {
		t, err := findTemplate(ctx, lab, template)
		if err != nil {
			return schema.ToolItem{}, err
		}
		at.ComputeID = t.Compute()
		n, err := lab.CreateNode(ctx, lab.Token, lab.ProjectID, t.ID, at)
		if err != nil && n.ID == "" {
			return schema.ToolItem{}, err
		}
		item := nodeResult(n, map[string]any{"template": t.Name, "x": n.X, "y": n.Y, "ports": n.Ports})
		switch {
		case err != nil:
			item = misnamed(item, fmt.Sprintf("%s was created, but could not be named %s: %s", n.Name, at.Name, schema.AsError(err).Message))
		case at.Name != "" && n.Name != at.Name:
			item = misnamed(item, fmt.Sprintf("GNS3 gave it the name %s in place of %s. It was created all the same.", n.Name, at.Name))
		}
		return item, nil
	}
}

// misnamed is the result of a node that is there under another name than was asked for: what comes next in the call would not find it.
func misnamed(item schema.ToolItem, why string) schema.ToolItem {
	item.Status, item.Outcome, item.Error = schema.ItemFailed, schema.OutcomePartial, why
	return item
}

// findTemplate finds a template by its id or its name. Nothing is changed by looking, so what fails here is certain not to have happened.
func findTemplate(ctx context.Context, lab Access, idOrName string) (gns3.Template, error) {
	all, err := lab.Templates(ctx, lab.Token)
	if err != nil {
		return gns3.Template{}, gns3.NotCarriedOut(err)
	}
	var alike []gns3.Template
	var names []string
	for _, t := range all {
		switch {
		case strings.EqualFold(t.ID, idOrName) || t.Name == idOrName:
			return t, nil
		case strings.EqualFold(t.Name, idOrName):
			alike = append(alike, t)
		}
		names = append(names, t.Name)
	}
	if len(alike) == 1 {
		return alike[0], nil
	}
	return gns3.Template{}, gns3.NotCarriedOut(schema.Errorf(schema.CodeNotFound, "There is no template %q. The templates are: %s.",
		idOrName, schema.CutText(strings.Join(names, ", "), 2000)))
}
