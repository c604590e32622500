package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// TestForget puts a project on record; that a server acts on it is tested with the server.
func TestForget(t *testing.T) {
	file, project := filepath.Join(t.TempDir(), "copilot.db"), uuid.NewString()
	forget := func(args ...string) (status int, text string) {
		var out bytes.Buffer
		status = run(append([]string{"forget"}, args...), &out, &out)
		return status, out.String()
	}
	for want, args := range map[string][]string{
		"There is no database":    {project, "--database-url", file},
		"must be a UUID":          {"../..", "--database-url", file},
		"--database-url: missing": {project},
	} {
		if status, text := forget(args...); status != 1 || !strings.Contains(text, want) {
			t.Errorf("%v: %d %s", args, status, text)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a database was made")
	}
	db, err := store.Open(store.Options{URL: file})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	in := schema.BeginTurnInput{RunID: "run", TurnInput: schema.TurnInput{Message: "hello", Mode: schema.ModeAutomation, TurnRef: schema.TurnRef{
		TurnID: uuid.NewString(), SessionKey: store.SessionKey("ada", project, "s"), SessionID: "s", ProjectID: project, UserID: "ada",
	}}}
	if _, err := db.BeginTurn(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	const found = "sessions to be removed: 1, users: 1\n"
	if status, text := forget(project, "--database-url", file); status != 0 || !strings.HasPrefix(text, found+"nothing was done") {
		t.Errorf("%d %q", status, text)
	}
	if noted, err := db.DeletedProjects(t.Context()); err != nil || len(noted) != 0 {
		t.Errorf("done without --yes: %+v %v", noted, err)
	}
	if status, text := forget(strings.ToUpper(project), "--database-url", file, "--yes"); status != 0 || text != found {
		t.Errorf("%d %q", status, text)
	}
	noted, err := db.DeletedProjects(t.Context())
	if err != nil || len(noted) != 1 || noted[0].ProjectID != project {
		t.Errorf("%+v %v", noted, err)
	}
}
