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
	Yes         bool   `env:"-" help:"Do it. Without this the command only tells what would be removed."`
}

// Help explains the command.
func (forgetCmd) Help() string {
	return "The server removes the chats of a project when GNS3 tells it that the project was deleted, and not when the project just isn't there. Use " +
		"this for one that was deleted while the server didn't run: with --yes it believes you as it believes GNS3. The chats of all users in the project are gone " +
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

// Run tells what it is about, and puts the deletion on record.
func (f *forgetCmd) Run(ctx context.Context, c *console) error {
	found, err := stack.ForgetProject(ctx, f.DatabaseURL, f.Project, f.Yes)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "sessions to be removed: %d, users: %d\n", found.Sessions, found.Users)
	if !f.Yes {
		fmt.Fprintln(c.out, "nothing was done; if this is the project that is gone, say so again with --yes")
	}
	return nil
}
