package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"gns3copilot/schema"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// NewSessionTitle is the title of a session until it gets a better one.
const NewSessionTitle = "New Conversation"

// Hash is the lower-case hex SHA-256 of a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// BeginTurn stores the turn, its session when new, and the user's message, and closes what an earlier turn left open. Running it
// again for the same turn changes nothing. It fails with CodeConflict when the turn belongs to another session. wantTitle tells whether the session still has no title of its own.
func (s *Store) BeginTurn(ctx context.Context, in schema.BeginTurnInput) (wantTitle bool, err error) {
	err = s.tx(ctx, "begin turn", func(db *gorm.DB) error {
		session, err := s.openSession(db, in)
		if err != nil {
			return err
		}
		wantTitle = session.Metadata.TitleSource == TitleNone || session.Metadata.TitleSource == TitleFallback
		var known Turn
		found := db.Select("session_key", "run_id").Where("id = ?", in.TurnID).Limit(1).Find(&known)
		switch {
		case found.Error != nil:
			return found.Error
		case found.RowsAffected == 0:
			// A session runs one workflow at a time, so none of the others can still be at work.
			if err := closeAbandoned(db, &session, func(Turn) bool { return true }); err != nil {
				return err
			}
			return s.insertTurn(db, in, session)
		case known.SessionKey != in.SessionKey:
			return schema.Errorf(schema.CodeConflict, "This Idempotency-Key was used in another session.")
		}
		// A workflow that was reset goes on as another run.
		return db.Model(&Turn{}).Where("id = ? AND run_id <> ?", in.TurnID, in.RunID).Update("run_id", in.RunID).Error
	})
	return wantTitle, err
}

func (s *Store) openSession(db *gorm.DB, in schema.BeginTurnInput) (Session, error) {
	session := Session{
		ThreadID: in.SessionID, UserID: in.UserID, ProjectID: in.ProjectID, Key: in.SessionKey,
		Title: NewSessionTitle, Metadata: SessionMetadata{CopilotMode: in.Mode},
	}
	if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&session).Error; err != nil {
		return session, err
	}
	var stored Session
	err := s.Scope(in.UserID, in.ProjectID).lock(db, session, &stored)
	return stored, err
}

func (s *Store) insertTurn(db *gorm.DB, in schema.BeginTurnInput, session Session) error {
	now := db.NowFunc()
	turn := Turn{
		ID: in.TurnID, SessionKey: in.SessionKey, Number: session.TurnCount + 1, UserID: in.UserID, UserName: in.UserName, ProjectID: in.ProjectID,
		RunID: in.RunID, Mode: in.Mode, State: schema.TurnRunning, BodySHA256: in.BodySHA256, StartedAt: now,
	}
	if err := db.Create(&turn).Error; err != nil {
		return err
	}
	message := Message{
		ID: uuid.NewString(), SessionKey: in.SessionKey, TurnNumber: turn.Number, TurnID: in.TurnID,
		Role: RoleUser, Content: in.Message, CreatedAt: now,
	}
	if err := db.Create(&message).Error; err != nil {
		return err
	}
	session.Metadata.CopilotMode = in.Mode
	session.Stats.Temperature, session.Stats.MaxTokens = in.Temperature, in.MaxTokens
	session.TurnCount, session.LastTurnID, session.LastMessageAt = turn.Number, turn.ID, &now
	return db.Model(&session).Select("Metadata", "Stats", "TurnCount", "LastTurnID", "LastMessageAt").Updates(&session).Error
}

// CloseAbandoned ends the books of a turn whose run is known to be gone. Of a turn whose books are closed only what still waits is ended.
func (s *Store) CloseAbandoned(ctx context.Context, ref schema.TurnRef) error {
	return s.tx(ctx, "close turn", func(db *gorm.DB) error {
		if err := endAbandoned(db, ref); err != nil {
			return err
		}
		var session Session
		if err := forUpdate(db).Where(&Session{Key: ref.SessionKey}).Limit(1).Find(&session).Error; err != nil {
			return err
		}
		return closeAbandoned(db, &session, func(t Turn) bool { return t.ID == ref.TurnID })
	})
}

// closeAbandoned ends the books of a session's turns whose run is gone without FinishTurn, as after a termination by an operator.
func closeAbandoned(db *gorm.DB, session *Session, gone func(Turn) bool) error {
	var open []Turn
	if err := db.Where("session_key = ? AND state NOT IN ?", session.Key, over).Find(&open).Error; err != nil {
		return err
	}
	for _, t := range open {
		if !gone(t) {
			continue
		}
		ref := schema.TurnRef{TurnID: t.ID, SessionKey: t.SessionKey, UserID: t.UserID, ProjectID: t.ProjectID}
		if err := endAbandoned(db, ref); err != nil {
			return err
		}
		if err := closeDangling(db, ref); err != nil {
			return err
		}
		if err := count(db, session, schema.FinishTurnInput{TurnRef: ref}); err != nil {
			return err
		}
		if err := saveCounters(db, session); err != nil {
			return err
		}
		if err := db.Model(&Turn{}).Where("id = ?", t.ID).Updates(map[string]any{
			"state": schema.TurnFailed, "stop_reason": schema.StopError, "finished_at": db.NowFunc(),
			"error_code": schema.CodeInternal, "error_text": "The turn was ended from outside.",
		}).Error; err != nil {
			return err
		}
	}
	return nil
}

// endAbandoned ends what waits for a word in a turn that is gone, and fences off its pushes: a worker that doesn't know yet sends no more.
func endAbandoned(db *gorm.DB, ref schema.TurnRef) error {
	var waiting []Approval
	if err := db.Where("turn_id = ? AND state = ?", ref.TurnID, schema.ApprovalPending).Order("step, ordinal").Find(&waiting).Error; err != nil {
		return err
	}
	for _, a := range waiting {
		if err := a.end(db, schema.ApprovalAborted, ""); err != nil {
			return err
		}
	}
	var running []DeviceRun
	if err := db.Where("turn_id = ? AND state = ?", ref.TurnID, RunRunning).Find(&running).Error; err != nil {
		return err
	}
	for _, r := range running {
		if _, err := settle(db, ref, r.ToolCallID, r.Device, r.Kind); err != nil {
			return err
		}
	}
	return nil
}

// closeDangling gives every call of the turn that has no result a placeholder, since providers refuse a conversation with a
// call that was never answered.
func closeDangling(db *gorm.DB, ref schema.TurnRef) error {
	var messages []Message
	if err := db.Where("turn_id = ?", ref.TurnID).Order("step, ordinal").Find(&messages).Error; err != nil {
		return err
	}
	answered := map[string]bool{}
	for _, m := range messages {
		answered[m.ToolCallID] = true
	}
	for _, m := range messages {
		for i, c := range m.ToolCalls {
			if answered[c.ID] {
				continue
			}
			r := schema.FailedToolResponse(c.Name, schema.Errorf(schema.CodeAborted,
				"The turn was ended from outside; it is unknown how far this call got."), 0, db.NowFunc())
			if err := insertResult(db, m, i, string(schema.TextIndent(r)), ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// over are the states in which nothing more happens.
var over = []schema.TurnState{schema.TurnDone, schema.TurnFailed, schema.TurnAborted}

// Turn finds a turn of the ref's user and project. It fails with CodeNotFound.
func (s *Store) Turn(ctx context.Context, ref schema.TurnRef) (Turn, error) {
	var t Turn
	err := s.read.WithContext(ctx).
		Where("id = ? AND user_id = ? AND project_id = ?", ref.TurnID, ref.UserID, ref.ProjectID).Take(&t).Error
	if err != nil {
		return t, fmt.Errorf("read turn: %w", domainError(err))
	}
	return t, nil
}

// SetTurnState marks a turn that isn't over.
func (s *Store) SetTurnState(ctx context.Context, ref schema.TurnRef, state schema.TurnState) error {
	return s.tx(ctx, "set turn state", func(db *gorm.DB) error {
		return db.Model(&Turn{}).Where("id = ? AND state NOT IN ?", ref.TurnID, over).Update("state", state).Error
	})
}

// SetTopology keeps the lab as the model was shown it.
func (s *Store) SetTopology(ctx context.Context, ref schema.TurnRef, topology string) error {
	return s.tx(ctx, "store topology", func(db *gorm.DB) error {
		return db.Model(&Turn{}).Where("id = ?", ref.TurnID).Update("topology", topology).Error
	})
}

// SetTurnTitle keeps the title made beside the answer until FinishTurn takes it over.
func (s *Store) SetTurnTitle(ctx context.Context, ref schema.TurnRef, title string) error {
	return s.tx(ctx, "store title", func(db *gorm.DB) error {
		return db.Model(&Turn{}).Where("id = ?", ref.TurnID).Update("title", title).Error
	})
}

// OpenTurns lists the turns that began since then and are not over.
func (s *Store) OpenTurns(ctx context.Context, since time.Time) ([]Turn, error) {
	var turns []Turn
	err := s.read.WithContext(ctx).Omit("topology").Where("state NOT IN ? AND started_at > ?", over, since).Find(&turns).Error
	if err != nil {
		return nil, fmt.Errorf("list open turns: %w", domainError(err))
	}
	return turns, nil
}
