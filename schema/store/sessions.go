package store

import (
	"context"
	"fmt"

	"gns3copilot/schema"

	"gorm.io/gorm"
)

// Scope is what one user may see of one project's conversations.
type Scope struct {
	store             *Store
	userID, projectID string
}

// Scope narrows the store to a user and a project.
func (s *Store) Scope(userID, projectID string) Scope {
	return Scope{store: s, userID: userID, projectID: projectID}
}

func (s Scope) query(ctx context.Context) *gorm.DB {
	return s.store.read.WithContext(ctx).Where("user_id = ? AND project_id = ?", s.userID, s.projectID)
}

// Sessions lists the sessions, pinned first, then by the last change, newest first. mode "" means all.
func (s Scope) Sessions(ctx context.Context, mode schema.Mode, limit int) ([]Session, error) {
	q := s.query(ctx)
	if mode != "" {
		if s.store.postgres {
			q = q.Where("metadata::json ->> 'copilot_mode' = ?", string(mode))
		} else {
			q = q.Where("json_extract(metadata, '$.copilot_mode') = ?", string(mode))
		}
	}
	sessions := []Session{}
	if err := q.Order("pinned DESC, updated_at DESC, id DESC").Limit(limit).Find(&sessions).Error; err != nil {
		return nil, fmt.Errorf("list sessions: %w", domainError(err))
	}
	return sessions, nil
}

// Session finds a session by the client's name for it. It fails with CodeNotFound.
func (s Scope) Session(ctx context.Context, sessionID string) (Session, error) {
	var session Session
	err := s.query(ctx).Where("thread_id = ?", sessionID).Limit(1).Find(&session).Error
	if err == nil && session.Key == "" {
		return session, schema.Errorf(schema.CodeNotFound, "Session '%s' not found", sessionID)
	}
	if err != nil {
		return session, fmt.Errorf("read session: %w", domainError(err))
	}
	return session, nil
}

// History gives the newest limit messages of a session, oldest first.
func (s Scope) History(ctx context.Context, session Session, limit int) ([]Message, error) {
	var messages []Message
	err := s.store.read.WithContext(ctx).Omit("whole").Where("session_key = ?", session.Key).
		Order("turn_number DESC, step DESC, ordinal DESC").Limit(limit).Find(&messages).Error
	if err != nil {
		return nil, fmt.Errorf("read history: %w", domainError(err))
	}
	for i, j := 0, len(messages)-1; i < j; i, j = i+1, j-1 {
		messages[i], messages[j] = messages[j], messages[i]
	}
	return messages, nil
}

// Turn finds a turn of the session. It fails with CodeNotFound.
func (s Scope) Turn(ctx context.Context, session Session, turnID string) (Turn, error) {
	var turn Turn
	err := s.query(ctx).Where("session_key = ? AND id = ?", session.Key, turnID).Limit(1).Find(&turn).Error
	if err == nil && turn.ID == "" {
		return turn, schema.Errorf(schema.CodeNotFound, "Turn '%s' not found", turnID)
	}
	if err != nil {
		return turn, fmt.Errorf("read turn: %w", domainError(err))
	}
	return turn, nil
}

// ToolOutput gives the whole, uncut result of a tool call. It fails with CodeNotFound.
func (s Scope) ToolOutput(ctx context.Context, session Session, callID string) (string, error) {
	var m Message
	err := s.store.read.WithContext(ctx).Where("session_key = ? AND tool_call_id = ?", session.Key, callID).Limit(1).Find(&m).Error
	if err == nil && m.ID == "" {
		return "", schema.Errorf(schema.CodeNotFound, "Tool call '%s' not found", callID)
	}
	if err != nil {
		return "", fmt.Errorf("read tool output: %w", domainError(err))
	}
	if m.Whole != "" {
		return m.Whole, nil
	}
	return m.Content, nil
}
