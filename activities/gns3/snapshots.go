package gns3

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gns3copilot/schema"
)

// snapshotTimeout bounds what writes or reads a whole project, disks of machines included. GNS3 sets no bound.
const snapshotTimeout = 15 * time.Minute

// Snapshot is a project's state at one moment.
type Snapshot struct {
	ID        string `json:"snapshot_id"`
	Name      string `json:"name"`
	CreatedAt int64  `json:"created_at"` // seconds since 1970
}

// Snapshots lists a project's snapshots, the oldest first. It fails as Project does.
func (c *Client) Snapshots(ctx context.Context, token, projectID string) ([]Snapshot, error) {
	var all []Snapshot
	if err := c.getOfProject(ctx, token, projectID, "/snapshots", &all); err != nil {
		return nil, fmt.Errorf("list GNS3 snapshots: %w", err)
	}
	return all, nil
}

// CreateSnapshot takes one. CodeConflict when the name is taken or a node runs, CodeForbidden without the right or in a closed project,
// CodeInvalid for a name that can't be one: it becomes a file's.
func (c *Client) CreateSnapshot(ctx context.Context, token, projectID, name string) (Snapshot, error) {
	if err := checkName(name); err != nil {
		return Snapshot{}, fmt.Errorf("create GNS3 snapshot: %w", err)
	}
	if strings.ContainsAny(name, `/\`) {
		return Snapshot{}, fmt.Errorf("create GNS3 snapshot: %w",
			notCarriedOut(schema.Errorf(schema.CodeInvalid, "A snapshot's name must not have / or \\ in it.")))
	}
	if err := checkID("project", projectID); err != nil {
		return Snapshot{}, fmt.Errorf("create GNS3 snapshot: %w", err)
	}
	in := struct {
		Name string `json:"name"`
	}{name}
	var out Snapshot
	err := c.as(ctx, request{
		method: http.MethodPost, path: "projects/" + projectID + "/snapshots", token: token, in: in, out: &out, within: snapshotTimeout,
	})
	if err == nil && out.ID == "" {
		err = c.notGNS3()
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("create GNS3 snapshot: %w", err)
	}
	return out, nil
}

// RestoreSnapshot puts a project back to what it was. GNS3 closes and opens it, and its nodes are off afterwards; what has changed since
// is lost. CodeNotFound for an unknown snapshot, CodeForbidden without the right or in a closed project. After CodeConflict the project
// can be in any state.
func (c *Client) RestoreSnapshot(ctx context.Context, token, projectID, snapshotID string) error {
	q := request{method: http.MethodPost, token: token, within: snapshotTimeout, late: true}
	if err := c.sendIn(ctx, projectID, "snapshot", snapshotID, "/restore", q); err != nil {
		return fmt.Errorf("restore GNS3 snapshot: %w", err)
	}
	return nil
}
