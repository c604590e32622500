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

//go:embed deletenode.md
var deleteNodeText string

// DeleteNodes removes nodes with their links and disks.
type DeleteNodes struct{ nodeListTool }

var (
	_ Tool       = DeleteNodes{}
	_ LabChanger = DeleteNodes{}
	_ Normalizer = DeleteNodes{}
)

// Metadata describes the tool.
func (DeleteNodes) Metadata() Metadata {
	return metadata("delete_gns3_node", deleteNodeText, CategoryLab)
}

// Plan lists the nodes, each with the links that go with it.
func (DeleteNodes) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	return eachNode(shown, args, func(n gns3.Node) LabChange {
		var ends []string
		for _, l := range shown.Links {
			if l.NodeA == n.Name || l.NodeB == n.Name {
				ends = append(ends, linkName(l))
			}
		}
		what := fmt.Sprintf("delete %s (%s, %s) with its disks", n.Name, n.Type, n.Status)
		if len(ends) > 0 {
			what += " and links: " + strings.Join(ends, "; ")
		}
		return LabChange{
			What: what,
			Do: func(ctx context.Context, lab Access) (schema.ToolItem, error) {
				err := lab.DeleteNode(ctx, lab.Token, lab.ProjectID, n.ID)
				n.Status = "deleted"
				return nodeResult(n, map[string]any{}), err
			},
		}
	})
}
