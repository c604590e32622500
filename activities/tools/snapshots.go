package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

//go:embed snapshot_list.md
var listSnapshotsText string

//go:embed snapshot_create.md
var createSnapshotText string

//go:embed snapshot_restore.md
var restoreSnapshotText string

// ListSnapshots lists the project's snapshots.
type ListSnapshots struct{}

// CreateSnapshot takes one.
type CreateSnapshot struct{ labTool }

// RestoreSnapshot puts the project back to one.
type RestoreSnapshot struct{ labTool }

var (
	_ Tool       = ListSnapshots{}
	_ Tool       = CreateSnapshot{}
	_ LabChanger = CreateSnapshot{}
	_ Tool       = RestoreSnapshot{}
	_ LabChanger = RestoreSnapshot{}
)

// Metadata describes the tool.
func (ListSnapshots) Metadata() Metadata {
	return metadata("list_gns3_snapshots", listSnapshotsText, CategoryLab)
}

// Schema describes the arguments: none is needed.
func (ListSnapshots) Schema() json.RawMessage { return TopologyReader{}.Schema() }

// Execute gives an item for each snapshot, the oldest first. It fails as the GNS3 server does.
func (ListSnapshots) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	if err := OwnProject(args, env.Ref.ProjectID); err != nil {
		return nil, err
	}
	lab, err := env.Lab(ctx)
	if err != nil {
		return nil, err
	}
	all, err := lab.Snapshots(ctx, lab.Token, lab.ProjectID)
	if err != nil {
		return nil, err
	}
	items := make([]schema.ToolItem, len(all))
	for i, s := range all {
		items[i] = snapshotResult(s)
	}
	return items, nil
}

func snapshotResult(s gns3.Snapshot) schema.ToolItem {
	return schema.ToolItem{ID: s.ID, Name: s.Name, Status: schema.ItemSuccess, Result: string(schema.Text(map[string]string{
		"snapshot_id": s.ID, "name": s.Name, "created_at": time.Unix(s.CreatedAt, 0).UTC().Format(time.RFC3339),
	}))}
}

// Metadata describes the tool.
func (CreateSnapshot) Metadata() Metadata {
	return metadata("create_gns3_snapshot", createSnapshotText, CategoryLab)
}

// Schema describes the arguments.
func (CreateSnapshot) Schema() json.RawMessage {
	return argumentsSchema(`
		"name": {"type": "string", "minLength": 1, "maxLength": 200}`, "name")
}

// Plan is the one snapshot.
func (CreateSnapshot) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, badArguments(err)
	}
	in.Name = strings.TrimSpace(in.Name)
	return []LabChange{{
		Item: in.Name, What: "take a snapshot named " + in.Name, Problem: allOff(shown),
		Do: func(ctx context.Context, lab Access) (schema.ToolItem, error) {
			s, err := lab.CreateSnapshot(ctx, lab.Token, lab.ProjectID, in.Name)
			return snapshotResult(s), err
		},
	}}, nil
}

// allOff names the nodes that keep a snapshot from being taken: GNS3 refuses it without saying which.
func allOff(lab gns3.Topology) error {
	var on []string
	for name, n := range lab.Nodes {
		if n.Status != "stopped" && !alwaysOn(n) {
			on = append(on, name)
		}
	}
	if len(on) == 0 {
		return nil
	}
	slices.Sort(on)
	return schema.Errorf(schema.CodeConflict, "A snapshot needs all nodes off, and these are on: %s.", strings.Join(on, ", ")).WithHint("Stop them first.")
}

// Metadata describes the tool.
func (RestoreSnapshot) Metadata() Metadata {
	return metadata("restore_gns3_snapshot", restoreSnapshotText, CategoryLab)
}

// Schema describes the arguments.
func (RestoreSnapshot) Schema() json.RawMessage {
	return argumentsSchema(`
		"snapshot_id": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The snapshot's snapshot_id, or its name."}`, "snapshot_id")
}

// Plan is the one restoration. The snapshot is looked for when it is done, by the name or id that was confirmed.
func (RestoreSnapshot) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	var in struct {
		SnapshotID string `json:"snapshot_id"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, badArguments(err)
	}
	in.SnapshotID = strings.TrimSpace(in.SnapshotID)
	return []LabChange{{
		Item: in.SnapshotID, What: fmt.Sprintf("replace the project %s by its snapshot %s; all nodes are off afterwards", shown.Name, in.SnapshotID),
		Do: func(ctx context.Context, lab Access) (schema.ToolItem, error) {
			s, err := findSnapshot(ctx, lab, in.SnapshotID)
			if err != nil {
				return schema.ToolItem{}, err
			}
			return snapshotResult(s), lab.RestoreSnapshot(ctx, lab.Token, lab.ProjectID, s.ID)
		},
	}}, nil
}

// findSnapshot finds a snapshot by its id or its name. Nothing is changed by looking.
func findSnapshot(ctx context.Context, lab Access, idOrName string) (gns3.Snapshot, error) {
	all, err := lab.Snapshots(ctx, lab.Token, lab.ProjectID)
	if err != nil {
		return gns3.Snapshot{}, gns3.NotCarriedOut(err)
	}
	var names []string
	for _, s := range all {
		if strings.EqualFold(s.ID, idOrName) || s.Name == idOrName {
			return s, nil // GNS3 keeps names unique in a project
		}
		names = append(names, s.Name)
	}
	return gns3.Snapshot{}, gns3.NotCarriedOut(schema.Errorf(schema.CodeNotFound, "There is no snapshot %q. The project's snapshots are: %s.",
		idOrName, schema.CutText(strings.Join(names, ", "), 2000)))
}
