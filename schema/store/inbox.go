package store

import (
	"context"
	"fmt"
	"slices"

	"gns3copilot/schema"

	"gorm.io/gorm"
)

// SessionApprovals gives the calls of one assistant message that asked for a human's word in a session of that name, decided ones too:
// that of hitlSession if it is named, else what waits in the caller's own session, else what waits in anybody's, else the newest. What
// waits for several users fails with CodeConflict, a name that nobody has with CodeNotFound.
func (s *Store) SessionApprovals(ctx context.Context, userID, projectID, sessionID, hitlSession string) ([]Approval, error) {
	rows, err := s.approvalsOf(ctx, "user_id, session_key, hitl_session_id, state", "project_id = ? AND session_id = ?", projectID, sessionID)
	if err != nil {
		return nil, err
	}
	pending := only(rows, func(a Approval) bool { return a.State == schema.ApprovalPending })
	own := func(a Approval) bool { return a.UserID == userID }
	unknown := func() error {
		_, err := s.Scope(userID, projectID).Session(ctx, sessionID)
		return err
	}
	switch {
	case hitlSession != "":
		rows = only(rows, func(a Approval) bool { return a.HITLSessionID == hitlSession })
	case slices.ContainsFunc(pending, own):
		rows = only(pending, own)
	case slices.ContainsFunc(pending, func(a Approval) bool { return a.SessionKey != pending[0].SessionKey }):
		return nil, schema.Errorf(schema.CodeConflict, "Several users have a session '%s' with something pending.", sessionID).
			WithHint("Name one by hitl_session_id.")
	case len(pending) > 0:
		rows = pending
	case unknown() == nil:
		rows = only(rows, own)
	}
	if len(rows) == 0 {
		return nil, unknown()
	}
	return s.approvalsOf(ctx, "*", "hitl_session_id = ?", rows[len(rows)-1].HITLSessionID)
}

func (s *Store) approvalsOf(ctx context.Context, columns, where string, args ...any) ([]Approval, error) {
	var rows []Approval
	if err := s.read.WithContext(ctx).Select(columns).Where(where, args...).Where(ofThisProject).Order("created_at, ordinal").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("find approvals: %w", domainError(err))
	}
	return rows, nil
}

// CallState is what became of the first of these calls that asked for a human's word in a session of that name; "" when none did.
func (s *Store) CallState(ctx context.Context, projectID, sessionID string, calls []string) (schema.ApprovalState, error) {
	rows, err := s.approvalsOf(ctx, "state", "project_id = ? AND session_id = ? AND tool_call_id IN ?", projectID, sessionID, calls)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].State, nil
}

func only(rows []Approval, want func(Approval) bool) []Approval {
	return slices.DeleteFunc(slices.Clone(rows), func(a Approval) bool { return !want(a) })
}

// Inbox lists the calls of these projects that wait, the oldest first.
func (s *Store) Inbox(ctx context.Context, projects []string) ([]Approval, error) {
	return s.approvals(ctx, "state = ? AND project_id IN ? AND "+ofThisProject, "expires_at, created_at, ordinal", 1000, schema.ApprovalPending, projects)
}

// Decided lists the calls of these projects that no longer wait, the newest first; with deleted set also those of deleted projects that had their ids.
func (s *Store) Decided(ctx context.Context, projects []string, deleted bool, limit int) ([]Approval, error) {
	where := "state <> ? AND project_id IN ?"
	if !deleted {
		where += " AND " + ofThisProject
	}
	return s.approvals(ctx, where, "COALESCE(decided_at, created_at) DESC, created_at DESC, ordinal DESC", limit, schema.ApprovalPending, projects)
}

// WaitingIn are the projects in which calls wait.
func (s *Store) WaitingIn(ctx context.Context) ([]string, error) {
	return s.projects(ctx, s.read.Where("state = ? AND "+ofThisProject, schema.ApprovalPending).Distinct().Order("project_id"))
}

// lookedBack is in how many projects it is looked for what was decided.
const lookedBack = 200

// DecidedIn are the projects in which something was decided lately, the latest first, deleted ones among them.
func (s *Store) DecidedIn(ctx context.Context) ([]string, error) {
	return s.projects(ctx, s.read.Where("state <> ?", schema.ApprovalPending).Group("project_id").
		Order("MAX(COALESCE(decided_at, created_at)) DESC, project_id").Limit(lookedBack))
}

// HasAsked tells whether a call has ever asked for a human's word in a project.
func (s *Store) HasAsked(ctx context.Context, projectID string) (bool, error) {
	found, err := s.projects(ctx, s.read.Where("project_id = ?", projectID).Limit(1))
	return len(found) > 0, err
}

func (s *Store) projects(ctx context.Context, query *gorm.DB) ([]string, error) {
	ids := []string{}
	if err := query.WithContext(ctx).Model(&Approval{}).Pluck("project_id", &ids).Error; err != nil {
		return nil, fmt.Errorf("list projects with approvals: %w", domainError(err))
	}
	return ids, nil
}

func (s *Store) approvals(ctx context.Context, where, order string, limit int, args ...any) ([]Approval, error) {
	rows := []Approval{}
	if err := s.read.WithContext(ctx).Where(where, args...).Order(order).Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list approvals: %w", domainError(err))
	}
	return rows, nil
}

// Asked gives the calls of these turns of a session that asked for a human's word, in the model's order. Those that ran under the word on an
// earlier call are not among them.
func (s Scope) Asked(ctx context.Context, session Session, turnIDs []string) ([]Approval, error) {
	var rows []Approval
	err := s.query(ctx).Where("session_key = ? AND turn_id IN ?", session.Key, turnIDs).
		Where("NOT (state = ? AND confirmations = 0)", schema.ApprovalConfirmed).Order("created_at, ordinal").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read approvals: %w", domainError(err))
	}
	return rows, nil
}

// Changes lists the pushes of a session, in the order they began.
func (s Scope) Changes(ctx context.Context, session Session) ([]DeviceRun, error) {
	runs := []DeviceRun{}
	err := s.store.read.WithContext(ctx).Where("session_key = ?", session.Key).Order("started_at").Find(&runs).Error
	if err != nil {
		return nil, fmt.Errorf("list changes: %w", domainError(err))
	}
	return runs, nil
}
