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

// Forgotten is what is removed with a project.
type Forgotten struct{ Sessions, Users int }

// ForgetProject tells what would be removed with a project, and with really set puts on record that it was deleted, for the APIs to do that. It fails
// with CodeInvalid when the id is no UUID or the file isn't there, and with CodeUnavailable.
func ForgetProject(ctx context.Context, url, projectID string, really bool) (found Forgotten, err error) {
	id, err := uuid.Parse(projectID)
	if err != nil {
		return found, schema.Errorf(schema.CodeInvalid, "The project's id must be a UUID.")
	}
	if _, err := os.Stat(url); !strings.Contains(url, "://") && err != nil { // it would be made
		return found, schema.Errorf(schema.CodeInvalid, "There is no database %s.", url).WithHint("That of dev is copilot.db in its --data.").WithCause(err)
	}
	s, err := store.Open(store.Options{URL: url})
	if err != nil {
		return found, fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	now := time.Now()
	sessions, err := s.SessionsOf(ctx, store.DeletedProject{ProjectID: id.String(), At: now.UTC()})
	if err != nil {
		return found, err
	}
	users := map[string]bool{}
	for _, session := range sessions {
		users[session.UserID] = true
	}
	found = Forgotten{Sessions: len(sessions), Users: len(users)}
	if really {
		err = s.NoteDeleted(ctx, id.String(), now)
	}
	return found, err
}
