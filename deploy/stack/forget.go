package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// ForgetProject puts on record that a project was deleted, for the APIs to remove its sessions, and tells how many there are. It fails with
// CodeInvalid when the id is no UUID or the file isn't there, and with CodeUnavailable.
func ForgetProject(ctx context.Context, url, projectID string) (sessions int, err error) {
	id, err := uuid.Parse(projectID)
	if err != nil {
		return 0, schema.Errorf(schema.CodeInvalid, "The project's id must be a UUID.")
	}
	if _, err := os.Stat(url); !strings.Contains(url, "://") && err != nil { // it would be made
		return 0, schema.Errorf(schema.CodeInvalid, "There is no database %s.", url).WithHint("That of dev is copilot.db in its --data.").WithCause(err)
	}
	s, err := store.Open(store.Options{URL: url})
	if err != nil {
		return 0, fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.NoteDeleted(ctx, id.String(), time.Now()); err != nil {
		return 0, err
	}
	projects, err := s.DeletedProjects(ctx)
	if err != nil {
		return 0, err
	}
	for _, p := range projects {
		if p.ProjectID == id.String() {
			all, err := s.SessionsOf(ctx, p)
			return len(all), err
		}
	}
	return 0, nil // an API was quicker
}
