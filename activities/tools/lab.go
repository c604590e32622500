package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

// Access is the project of a turn on its GNS3 server, with the rights of the turn's owner.
type Access struct {
	*gns3.Client
	Token, ProjectID string
}

// LabChange is one change of the lab itself: of a node, a link or a snapshot. It is one request to the GNS3 server, or a few of which only
// the first can fail without a trace.
type LabChange struct {
	// Item says what is changed: a node's name, a link's ends.
	Item string
	// ID is the node's, the link's or the snapshot's, "" when it isn't known yet.
	ID string
	// What tells in words what is done, to those who confirm it and in the journal.
	What string
	// Problem is why it can't be done, when the lab as it was shown says so: then it isn't tried.
	Problem error
	// Do does it. An error that gns3.MayHaveHappened doesn't rule out leaves it unknown whether it was done. It gives the item's id, its name
	// and its result.
	Do func(ctx context.Context, lab Access) (schema.ToolItem, error)
	// Await waits for what the change brings about, such as a console that answers, and adds it to the item. nil waits for nothing.
	Await func(ctx context.Context, env Env, item schema.ToolItem) schema.ToolItem
}

// LabChanger is a tool that changes the lab. Each of its changes happens at most once, and is judged before where the policy says so.
type LabChanger interface {
	// Plan lists what a call does, in the order of the request, by its arguments and the lab as it was shown alone: what a human confirms
	// is what is done. How many changes there are, at least one, follows from the arguments alone.
	Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error)
}

// Items names the changes, each by its own name.
func Items(plan []LabChange) []string {
	names := make([]string, len(plan))
	for i, c := range plan {
		names[i] = c.Item
		for n := 2; slices.Contains(names[:i], names[i]); n++ {
			names[i] = fmt.Sprintf("%s (%d)", c.Item, n)
		}
	}
	return names
}

// DescribeLab says in a few words what a call does: the tool's name as people say it, and what it is about.
func DescribeLab(tool string, plan []LabChange) string {
	words := strings.ReplaceAll(strings.ReplaceAll(tool, "_gns3_", " "), "_", " ")
	text := strings.ToUpper(words[:1]) + words[1:] + ": " + strings.Join(Items(plan), ", ")
	return schema.CutText(text, 200)
}

// PreviewLab is what a confirmation lets be done.
func PreviewLab(plan []LabChange) *schema.Preview {
	preview := &schema.Preview{}
	for i, name := range Items(plan) {
		d := schema.PreviewDevice{Name: name, ID: plan[i].ID, Lines: []string{plan[i].What}}
		if plan[i].Problem != nil {
			d.Problem = schema.AsError(plan[i].Problem).Message
		}
		preview.Devices = append(preview.Devices, d)
	}
	return preview
}

// Hopeless gives the problem of a plan of which nothing can be done, which needs nobody's word.
func Hopeless(plan []LabChange) error {
	for _, c := range plan {
		if c.Problem == nil {
			return nil
		}
	}
	return plan[0].Problem
}

// node finds a node by its id or its name.
func node(lab gns3.Topology, idOrName string) (gns3.Node, error) {
	idOrName = strings.TrimSpace(idOrName)
	for _, n := range lab.Nodes {
		if strings.EqualFold(n.ID, idOrName) {
			return n, nil
		}
	}
	return lab.Find(idOrName)
}

// planned tells whether a plan changes what has that id.
func planned(plan []LabChange, id string) bool {
	return slices.ContainsFunc(plan, func(c LabChange) bool { return c.ID == id && c.Problem == nil })
}

func twice(name string) error {
	return schema.Errorf(schema.CodeConflict, "This call names %s more than once. It is changed once: see its first result.", name)
}

// aboutNode gives a change the name of its node, or what the call has written where there is none.
func aboutNode(c LabChange, n gns3.Node, written string) LabChange {
	c.Item, c.ID = cmp.Or(n.Name, strings.TrimSpace(written)), n.ID
	if c.Problem != nil {
		c.What = "nothing"
	}
	return c
}

// withoutBlanks is a node's name as GNS3 makes it.
func withoutBlanks(name string) string { return strings.Join(strings.Fields(name), "") }

// nodeResult is the result of a change of a node.
func nodeResult(n gns3.Node, fields map[string]any) schema.ToolItem {
	fields["node_id"], fields["name"], fields["status"] = n.ID, n.Name, n.Status
	return schema.ToolItem{ID: n.ID, Name: n.Name, Status: schema.ItemSuccess, Result: string(schema.Text(fields))}
}

// unseen is the result of a change that GNS3 has taken, but whose outcome could not be looked at.
func unseen(id, name string, err error) schema.ToolItem {
	return schema.ToolItem{ID: id, Name: name, Status: schema.ItemFailed, Outcome: schema.OutcomeUnknown,
		Error: "The GNS3 server took the request, but what came of it could not be looked at: " + schema.AsError(err).Message}
}

// AwaitAll waits, side by side, for what the changes that were made bring about.
func AwaitAll(ctx context.Context, env Env, plan []LabChange, items []schema.ToolItem) {
	var wg sync.WaitGroup
	for i, c := range plan {
		if c.Await != nil && items[i].Status == schema.ItemSuccess {
			wg.Go(func() { items[i] = c.Await(ctx, env, items[i]) })
		}
	}
	wg.Wait()
}

// labTool is what all tools that change the lab have in common.
type labTool struct{}

// Execute refuses: such a call goes by its plan, under the journal.
func (labTool) Execute(context.Context, Env, json.RawMessage) ([]schema.ToolItem, error) {
	return nil, schema.Errorf(schema.CodeRefused, "Nothing was done: a change of the lab goes by its plan.")
}
