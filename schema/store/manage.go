package store

import (
	"context"
	"fmt"

	"gns3copilot/schema"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Rename gives the session a title that no model overwrites, and returns the session as it is then. It fails with CodeNotFound when the
// session is gone.
func (s Scope) Rename(ctx context.Context, session Session, title string) (Session, error) {
	return s.change(ctx, "rename session", session, func(current *Session) {
		current.Title, current.Metadata.TitleSource = title, TitleUser
	}, "Title", "Metadata")
}

// Pin puts the session before those that aren't pinned, or back among them, and returns the session as it is then. It fails with
// CodeNotFound when the session is gone.
func (s Scope) Pin(ctx context.Context, session Session, pinned bool) (Session, error) {
	return s.change(ctx, "pin session", session, func(current *Session) { current.Pinned = pinned }, "Pinned")
}

// change applies fn to the session's row and saves the named fields; the session counts as updated.
func (s Scope) change(ctx context.Context, what string, session Session, fn func(*Session), fields ...string) (Session, error) {
	var current Session
	err := s.store.tx(ctx, what, func(db *gorm.DB) error {
		if err := s.lock(db, session, &current); err != nil {
			return err
		}
		fn(&current)
		return db.Model(&current).Select(fields).Updates(&current).Error
	})
	return current, err
}

// lock reads the scope's session and keeps others from changing it until the transaction ends.
func (s Scope) lock(db *gorm.DB, session Session, into *Session) error {
	return forUpdate(db).Where(&Session{Key: session.Key, UserID: s.userID, ProjectID: s.projectID}).Take(into).Error
}

// forUpdate locks what is read. SQLite has no need of it: there a transaction has the database to itself.
func forUpdate(db *gorm.DB) *gorm.DB {
	return db.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}

// RunIDs are the runs in Temporal of the session's turns.
func (s Scope) RunIDs(ctx context.Context, session Session) ([]string, error) {
	var ids []string
	err := s.query(ctx).Model(&Turn{}).Where("session_key = ?", session.Key).Order("number").Pluck("run_id", &ids).Error
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", domainError(err))
	}
	return ids, nil
}

// Delete removes the session with all that was said in it. What was sent to devices, and who allowed it, stays: the trail belongs to the
// devices as much as to the conversation. So do its turns, without their texts, since an Idempotency-Key must not begin one of them
// again, and what its model calls have used, which counts for its user and the day. It fails with CodeTurnRunning while a turn isn't over, and
// with CodeNotFound when the session is gone.
func (s Scope) Delete(ctx context.Context, session Session) error {
	return s.store.tx(ctx, "delete session", func(db *gorm.DB) error {
		var current Session
		if err := s.lock(db, session, &current); err != nil {
			return err
		}
		var open int64
		if err := db.Model(&Turn{}).Where("session_key = ? AND state NOT IN ?", session.Key, over).Count(&open).Error; err != nil {
			return err
		}
		if open > 0 {
			return schema.Errorf(schema.CodeTurnRunning, "The session is answering a message.").WithHint("Try again in a moment.")
		}
		if err := db.Where("session_key = ?", session.Key).Delete(&Message{}).Error; err != nil {
			return err
		}
		// A later session of that name has the same key, and must not inherit them.
		for _, table := range []any{&Approval{}, &DeviceRun{}, &ModelCall{}} {
			if err := db.Model(table).Where("session_key = ?", session.Key).Update("session_key", gorm.Expr("turn_id")).Error; err != nil {
				return fmt.Errorf("detach: %w", err)
			}
		}
		if err := db.Model(&Turn{}).Where("session_key = ?", session.Key).Updates(map[string]any{
			"session_key": gorm.Expr("id"), "topology": "", "title": "", "error_text": "",
		}).Error; err != nil {
			return err
		}
		return db.Delete(&current).Error
	})
}
