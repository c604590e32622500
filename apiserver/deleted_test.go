package apiserver

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// TestWhatDeletesAProject is which of GNS3's answers are its word that a project is no more.
func TestWhatDeletesAProject(t *testing.T) {
	const id = "6f916b6c-b798-4661-a0d9-c6c99125a318"
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{http.MethodDelete, "/v3/projects/" + id, http.StatusNoContent, id},
		{http.MethodDelete, "/v3/projects/6F916B6C-B798-4661-A0D9-C6C99125A318/", http.StatusNoContent, id},
		{http.MethodDelete, "/v3/project%73/6f916b6cb7984661a0d9c6c99125a318", http.StatusNoContent, id},
		{http.MethodDelete, "/v3/projects/" + id, http.StatusForbidden, ""},
		{http.MethodDelete, "/v3/projects/" + id, http.StatusOK, ""},
		{http.MethodPost, "/v3/projects/" + id, http.StatusNoContent, ""},
		{http.MethodDelete, "/v3/projects/" + id + "/nodes/" + id, http.StatusNoContent, ""},
		// Who may delete images alone may give them any path.
		{http.MethodDelete, "/v3/images/v3/projects/" + id, http.StatusNoContent, ""},
		{http.MethodDelete, "/v3/images/%2Fv3%2Fprojects%2F" + id, http.StatusNoContent, ""},
		{http.MethodDelete, "//v3/projects/" + id, http.StatusNoContent, ""},
	} {
		if got := deletes(httptest.NewRequest(c.method, c.path, nil), c.status); got != c.want {
			t.Errorf("%s %s, answered with %d: %q, not %q", c.method, c.path, c.status, got, c.want)
		}
	}
}

// TestADeletionIsNotedLate, when the database is back: as of when it was known. By then a new project may have the id.
func TestADeletionIsNotedLate(t *testing.T) {
	const project = "6f916b6c-b798-4661-a0d9-c6c99125a318"
	db, err := store.Open(store.Options{URL: filepath.Join(t.TempDir(), "deleted.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &Server{store: db, log: slog.New(slog.DiscardHandler)}
	s.deletions = newDeletions(s)
	s.ProjectDeleted(t.Context(), project)
	if err := db.Migrate(t.Context()); err != nil { // until now there was nothing to note it in
		t.Fatal(err)
	}
	ref := schema.TurnRef{TurnID: "t", SessionKey: store.SessionKey("ada", project, "s"), SessionID: "s", ProjectID: project, UserID: "ada"}
	if _, err := db.BeginTurn(t.Context(), schema.BeginTurnInput{RunID: "r", TurnInput: schema.TurnInput{TurnRef: ref, Message: "hello"}}); err != nil {
		t.Fatal(err)
	}
	known := s.deletions.unstored
	if err := s.deletions.forgetAll(t.Context()); err != nil || len(known) != 1 || len(s.deletions.unstored) != 0 {
		t.Fatalf("%v %v %v", known, s.deletions.unstored, err)
	}
	if _, err := db.Scope("ada", project).Session(t.Context(), "s"); err != nil {
		t.Errorf("the new project's session: %v", err)
	}
}
