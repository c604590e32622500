package apiserver

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

const (
	// noteWait bounds how long a deletion waits until it is on record.
	noteWait = 2 * time.Second
	// forgetEvery is how often the record is looked at, for what could not be removed and what an operator has put there.
	forgetEvery = time.Minute
)

// deletions removes what was said about projects that the GNS3 server has deleted: their running turns first. That is done on the server's own
// word alone, its answer to a deletion or its notification of one. A project that isn't there is no such word: it may be that another server
// answers at the address, and its projects come back with it.
type deletions struct {
	server *Server
	wake   chan struct{}

	mu       sync.Mutex
	unstored []store.DeletedProject // what could not be put on record
}

func newDeletions(s *Server) *deletions {
	return &deletions{server: s, wake: make(chan struct{}, 1)}
}

// ProjectDeleted is told that the GNS3 server has deleted a project. What was said about it is removed soon, also when this process ends now.
func (s *Server) ProjectDeleted(ctx context.Context, projectID string) {
	d, now := s.deletions, time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWait)
	defer cancel()
	if err := s.store.NoteDeleted(ctx, projectID, now); err != nil {
		s.log.ErrorContext(ctx, "deleted project not noted yet", "project", projectID, "error", err)
		d.mu.Lock()
		d.unstored = append(d.unstored, store.DeletedProject{ProjectID: projectID, At: now})
		d.mu.Unlock()
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends. It begins with what an earlier process has left.
func (d *deletions) run(ctx context.Context) {
	again := time.NewTicker(forgetEvery)
	defer again.Stop()
	for ctx.Err() == nil {
		if err := d.forgetAll(ctx); err != nil && ctx.Err() == nil {
			d.server.log.ErrorContext(ctx, "sessions of deleted projects not removed yet", "error", err)
		}
		select {
		case <-d.wake:
		case <-again.C:
		case <-ctx.Done():
		}
	}
}

// forgetAll removes the sessions of all deleted projects, as far as it can, and fails with the last of what was in the way.
func (d *deletions) forgetAll(ctx context.Context) error {
	d.mu.Lock()
	unstored := d.unstored
	d.unstored = nil
	d.mu.Unlock()
	for i, p := range unstored {
		if err := d.server.store.NoteDeleted(ctx, p.ProjectID, p.At); err != nil {
			d.mu.Lock()
			d.unstored = append(d.unstored, unstored[i:]...)
			d.mu.Unlock()
			return err
		}
	}
	projects, err := d.server.store.DeletedProjects(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, p := range projects {
		if err := d.forget(ctx, p); err != nil {
			failed = err
		}
	}
	return failed
}

// forget removes a project's sessions, whoever's they are.
func (d *deletions) forget(ctx context.Context, p store.DeletedProject) error {
	s := d.server
	sessions, err := s.store.SessionsOf(ctx, p)
	if err != nil {
		return err
	}
	var failed error
	for _, session := range sessions {
		err := s.remove(ctx, s.store.Scope(session.UserID, session.ProjectID), session, schema.User{}, schema.AbortProjectDeleted)
		if err != nil && schema.CodeOf(err) != schema.CodeNotFound { // another process was quicker
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	if len(sessions) > 0 {
		s.log.InfoContext(ctx, "sessions of a deleted project removed", "project", p.ProjectID, "sessions", len(sessions))
	}
	return s.store.Forgotten(ctx, p)
}

// deletes tells which project the GNS3 server has deleted by answering a request with this status, "" when none. The whole path counts: images
// have names of their users' choice, which may end like a project's path.
func deletes(asked *http.Request, status int) string {
	if asked.Method != http.MethodDelete || status != http.StatusNoContent {
		return ""
	}
	id, found := strings.CutPrefix(strings.TrimSuffix(asked.URL.Path, "/"), "/v3/projects/")
	parsed, err := uuid.Parse(id)
	if !found || err != nil {
		return ""
	}
	return parsed.String()
}
