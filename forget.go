package main

import (
	"context"
	"fmt"

	"gns3copilot/deploy/stack"

	"github.com/google/uuid"
)

type forgetCmd struct {
	Project     string `arg:"" help:"Id of the project."`
	DatabaseURL string `name:"database-url" help:"postgres://… or the path of a SQLite file."`
}

// Help explains the command.
func (forgetCmd) Help() string {
	return "The server removes the chats of a project when GNS3 tells it that the project was deleted, and not when the project just isn't there. Use " +
		"this for one that was deleted while the server didn't run: it believes you as it believes GNS3. The chats of all users in the project are gone " +
		"for good within a minute, or when the server is started. What was sent to devices, and who allowed it, stays on record."
}

// Validate names every fault of the flags.
func (f *forgetCmd) Validate() error {
	var bad []string
	if _, err := uuid.Parse(f.Project); err != nil {
		bad = append(bad, "the project's id must be a UUID")
	}
	if f.DatabaseURL == "" {
		bad = append(bad, "--database-url: missing")
	}
	return faultsError(bad)
}

// Run puts the deletion on record.
func (f *forgetCmd) Run(ctx context.Context, c *console) error {
	sessions, err := stack.ForgetProject(ctx, f.DatabaseURL, f.Project)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "sessions to be removed: %d\n", sessions)
	return nil
}
