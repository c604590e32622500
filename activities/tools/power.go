package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

//go:embed power_start.md
var startText string

//go:embed power_stop.md
var stopText string

//go:embed power_suspend.md
var suspendText string

//go:embed power_reload.md
var reloadText string

// NodePower switches nodes: on, off, to sleep, or off and on again.
type NodePower struct {
	nodeListTool
	name, text string
	does       string // a verb
	status     string // that the node has afterwards
	request    func(Access, context.Context, string) error
	consoles   Consoles // to wait for, nil where nothing boots
}

var (
	_ Tool       = NodePower{}
	_ LabChanger = NodePower{}
	_ Normalizer = NodePower{}
)

// StartNodes switches nodes on and waits until their consoles answer.
func StartNodes(c Consoles) NodePower {
	return NodePower{name: "start_gns3_node", text: startText, does: "start", status: "started", consoles: c, request: func(a Access, ctx context.Context, id string) error {
		return a.StartNode(ctx, a.Token, a.ProjectID, id)
	}}
}

// StopNodes switches nodes off.
func StopNodes() NodePower {
	return NodePower{name: "stop_gns3_node", text: stopText, does: "stop", status: "stopped", request: func(a Access, ctx context.Context, id string) error {
		return a.StopNode(ctx, a.Token, a.ProjectID, id)
	}}
}

// SuspendNodes puts nodes to sleep.
func SuspendNodes() NodePower {
	return NodePower{name: "suspend_gns3_node", text: suspendText, does: "suspend", status: "suspended", request: func(a Access, ctx context.Context, id string) error {
		return a.SuspendNode(ctx, a.Token, a.ProjectID, id)
	}}
}

// ReloadNodes switches nodes off and on again and waits until their consoles answer.
func ReloadNodes(c Consoles) NodePower {
	return NodePower{name: "reload_gns3_node", text: reloadText, does: "reload", status: "started", consoles: c, request: func(a Access, ctx context.Context, id string) error {
		return a.ReloadNode(ctx, a.Token, a.ProjectID, id)
	}}
}

// Metadata describes the tool.
func (p NodePower) Metadata() Metadata {
	category := CategoryLab
	if p.status == "started" { // and its console is waited for
		category = CategoryDevice
	}
	return metadata(p.name, p.text, category)
}

// Plan lists the nodes.
func (p NodePower) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	return eachNode(shown, args, func(n gns3.Node) LabChange {
		c := LabChange{What: fmt.Sprintf("%s %s, which is %s", p.does, n.Name, n.Status), Do: p.do(n)}
		if p.status == "started" {
			c.Await = p.await
		}
		return c
	})
}

// do asks for the switch and looks whether it has come about: GNS3 says yes to a node that doesn't start, too.
func (p NodePower) do(n gns3.Node) func(context.Context, Access) (schema.ToolItem, error) {
	return func(ctx context.Context, lab Access) (schema.ToolItem, error) {
		if err := p.request(lab, ctx, n.ID); err != nil {
			return schema.ToolItem{}, err
		}
		now, err := lab.Node(ctx, lab.Token, lab.ProjectID, n.ID)
		if err != nil {
			return unseen(n.ID, n.Name, err), nil
		}
		item := nodeResult(now, map[string]any{"was": n.Status})
		if now.Status != p.status {
			item.Status = schema.ItemFailed
			item.Error = fmt.Sprintf("The GNS3 server took the request, but %s is %s. Not every kind of node can be %s.", now.Name, now.Status, p.status)
		}
		return item, nil
	}
}

// alwaysOn tells whether a node is of a kind that has no power switch, such as a cloud or a hub: GNS3 counts those as running for ever.
func alwaysOn(n gns3.Node) bool {
	switch n.Type {
	case "qemu", "docker", "dynamips", "vpcs", "vmware", "virtualbox", "iou":
		return false
	}
	return true
}
