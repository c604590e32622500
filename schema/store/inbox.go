package store

import (
	"context"
	"fmt"

	"gns3copilot/schema"

	"gorm.io/gorm"
)

// SessionApprovals gives the calls of the newest assistant message that asked for a human's word in a session of that name, decided ones
// too. The caller's own session comes first, then any of the project with something pending. Two of those fail with CodeConflict unless
// hitlSession names one; none at all with CodeNotFound.
func (s *Store) SessionApprovals(ctx context.Context, userID, projectID, sessionID, hitlSession string) ([]Approval, error) {
	q := func() *gorm.DB {
		q := s.read.WithContext(ctx).Where("project_id = ? AND session_id = ?", projectID, sessionID)
		if hitlSession != "" {
			q = q.Where("hitl_session_id = ?", hitlSession)
		}
		return q
	}
	var own int64
	if err := s.read.WithContext(ctx).Model(&Session{}).
		Where("project_id = ? AND user_id = ? AND thread_id = ?", projectID, userID, sessionID).Count(&own).Error; err != nil {
		return nil, fmt.Errorf("find approvals: %w", domainError(err))
	}
	var rows []Approval
	var err error
	if own > 0 {
		err = q().Where("user_id = ?", userID).Order("created_at, ordinal").Find(&rows).Error
	} else {
		var keys []string
		err = q().Model(&Approval{}).Where("state = ?", schema.ApprovalPending).Distinct("session_key").Pluck("session_key", &keys).Error
		switch {
		case err != nil:
		case len(keys) == 0:
			return nil, schema.Errorf(schema.CodeNotFound, "Session '%s' not found", sessionID)
		case len(keys) > 1:
			return nil, schema.Errorf(schema.CodeConflict, "Several users have a session '%s' with something pending.", sessionID).
				WithHint("Name one by hitl_session_id.")
		default:
			err = q().Where("session_key = ?", keys[0]).Order("created_at, ordinal").Find(&rows).Error
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find approvals: %w", domainError(err))
	}
	if len(rows) == 0 {
		return nil, nil
	}
	last := rows[len(rows)-1].HITLSessionID
	var newest []Approval
	for _, a := range rows {
		if a.HITLSessionID == last {
			newest = append(newest, a)
		}
	}
	return newest, nil
}

// Inbox lists the calls of these projects that wait, the oldest first.
func (s *Store) Inbox(ctx context.Context, projects []string) ([]Approval, error) {
	return s.approvals(ctx, "state = ? AND project_id IN ?", "expires_at", 1000, schema.ApprovalPending, projects)
}

// Decided lists the calls of these projects that no longer wait, the newest first.
func (s *Store) Decided(ctx context.Context, projects []string, limit int) ([]Approval, error) {
	return s.approvals(ctx, "state <> ? AND project_id IN ?", "created_at DESC", limit, schema.ApprovalPending, projects)
}

func (s *Store) approvals(ctx context.Context, where, order string, limit int, args ...any) ([]Approval, error) {
	rows := []Approval{}
	if err := s.read.WithContext(ctx).Where(where, args...).Order(order).Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list approvals: %w", domainError(err))
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
