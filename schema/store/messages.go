package store

import (
	"context"
	"fmt"

	"gns3copilot/schema"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Conversation gives the messages of the turn's session that the model is to read, oldest first: whole turns, up to the turn's own.
func (s *Store) Conversation(ctx context.Context, ref schema.TurnRef) ([]Message, error) {
	var messages []Message
	err := s.read.WithContext(ctx).Omit("whole").Where("session_key = ?", ref.SessionKey).
		Order("turn_number, step, ordinal").Find(&messages).Error
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", domainError(err))
	}
	return messages, nil
}

// FirstMessage is the user's message that the turn's session began with.
func (s *Store) FirstMessage(ctx context.Context, ref schema.TurnRef) (string, error) {
	var m Message
	err := s.read.WithContext(ctx).Select("content").Where("session_key = ? AND role = ?", ref.SessionKey, RoleUser).
		Order("turn_number").Limit(1).Find(&m).Error
	if err != nil {
		return "", fmt.Errorf("read first message: %w", domainError(err))
	}
	return m.Content, nil
}

// ClaimStep says that from now on this attempt, or a later one, gives the step's message.
func (s *Store) ClaimStep(ctx context.Context, ref schema.TurnRef, step, attempt int) error {
	return s.tx(ctx, "claim step", func(db *gorm.DB) error {
		return db.Model(&Turn{}).Where("id = ?", ref.TurnID).Updates(map[string]any{"claim_step": step, "claim_attempt": attempt}).Error
	})
}

// PutAssistant stores the assistant's message of a step. When the step has one already, that one stands and is returned: an
// activity that is run again must not answer twice. It fails with CodeConflict when a later attempt has
// claimed the step, and when the turn is over.
func (s *Store) PutAssistant(ctx context.Context, ref schema.TurnRef, step, attempt int, m Message) (Message, error) {
	err := s.tx(ctx, "store assistant message", func(db *gorm.DB) error {
		var turn Turn
		if err := db.Select("id", "number", "state", "claim_step", "claim_attempt").Where("id = ?", ref.TurnID).Take(&turn).Error; err != nil {
			return err
		}
		if turn.State.Over() {
			return errTurnOver()
		}
		if turn.ClaimStep == step && turn.ClaimAttempt > attempt {
			return schema.Errorf(schema.CodeConflict, "A later attempt answers this step.")
		}
		m.SessionKey, m.TurnID, m.TurnNumber, m.Step, m.Ordinal = ref.SessionKey, ref.TurnID, turn.Number, step, 0
		m.Role, m.CreatedAt = RoleAssistant, db.NowFunc()
		added := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&m)
		if added.Error != nil || added.RowsAffected == 1 {
			return added.Error
		}
		m = Message{}
		return place(db, ref.TurnID, step, 0).Take(&m).Error
	})
	return m, err
}

// errTurnOver refuses what comes too late: from a worker that doesn't know yet that its turn was ended.
func errTurnOver() error { return schema.Errorf(schema.CodeConflict, "The turn is over.") }

// Assistant finds the assistant's message of a step. It fails with CodeNotFound.
func (s *Store) Assistant(ctx context.Context, ref schema.TurnRef, step int) (Message, error) {
	var m Message
	if err := place(s.read.WithContext(ctx), ref.TurnID, step, 0).Take(&m).Error; err != nil {
		return m, fmt.Errorf("read assistant message: %w", domainError(err))
	}
	return m, nil
}

func place(db *gorm.DB, turnID string, step, ordinal int) *gorm.DB {
	return db.Where("turn_id = ? AND step = ? AND ordinal = ?", turnID, step, ordinal)
}

// PutResult stores the one tool message of a call. The first stands: the stored one is returned, with stored false when it is of
// an earlier run. whole is the uncut text, empty when content is whole.
func (s *Store) PutResult(ctx context.Context, ref schema.TurnRef, step int, callID, content, whole string) (m Message, stored bool, err error) {
	err = s.tx(ctx, "store tool result", func(db *gorm.DB) error {
		var assistant Message
		if err := place(db, ref.TurnID, step, 0).Take(&assistant).Error; err != nil {
			return err
		}
		index := assistant.callIndex(callID)
		if index < 0 {
			return fmt.Errorf("step %d of turn %s has no call %s", step, ref.TurnID, callID)
		}
		before := place(db, ref.TurnID, step, index+1).Limit(1).Find(&m)
		if before.Error != nil || before.RowsAffected == 1 {
			return before.Error
		}
		var open int64
		if err := db.Model(&Turn{}).Where("id = ? AND state NOT IN ?", ref.TurnID, over).Count(&open).Error; err != nil {
			return err
		}
		if open == 0 {
			return errTurnOver()
		}
		if err := insertResult(db, assistant, index, content, whole); err != nil {
			return err
		}
		stored = true
		return place(db, ref.TurnID, step, index+1).Take(&m).Error
	})
	return m, stored, err
}

// Results gives the tool messages of a step by call id.
func (s *Store) Results(ctx context.Context, ref schema.TurnRef, step int) (map[string]Message, error) {
	var messages []Message
	err := s.read.WithContext(ctx).Omit("whole").
		Where("turn_id = ? AND step = ? AND ordinal > 0", ref.TurnID, step).Find(&messages).Error
	if err != nil {
		return nil, fmt.Errorf("read tool results: %w", domainError(err))
	}
	byCall := make(map[string]Message, len(messages))
	for _, m := range messages {
		byCall[m.ToolCallID] = m
	}
	return byCall, nil
}

// ToolOutput gives the whole, uncut result of a call in the turn's session. It fails with CodeNotFound.
func (s *Store) ToolOutput(ctx context.Context, ref schema.TurnRef, callID string) (string, error) {
	scope := s.Scope(ref.UserID, ref.ProjectID)
	session, err := scope.Session(ctx, ref.SessionID)
	if err != nil {
		return "", err
	}
	return scope.ToolOutput(ctx, session, callID)
}

// insertResult adds the result of the assistant's call at index, unless there is one.
func insertResult(db *gorm.DB, assistant Message, index int, content, whole string) error {
	call := assistant.ToolCalls[index]
	return db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Message{
		ID: uuid.NewString(), SessionKey: assistant.SessionKey, TurnNumber: assistant.TurnNumber, TurnID: assistant.TurnID,
		Step: assistant.Step, Ordinal: index + 1, Role: RoleTool, Name: call.Name, ToolCallID: call.ID,
		Content: content, Whole: whole, CreatedAt: db.NowFunc(),
	}).Error
}

func (m Message) callIndex(id string) int {
	for i, c := range m.ToolCalls {
		if c.ID == id {
			return i
		}
	}
	return -1
}

// Call finds a call of the message by its id.
func (m Message) Call(id string) (ToolCall, bool) {
	i := m.callIndex(id)
	if i < 0 {
		return ToolCall{}, false
	}
	return m.ToolCalls[i], true
}
