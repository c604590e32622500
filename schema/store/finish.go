package store

import (
	"context"

	"gns3copilot/schema"

	"gorm.io/gorm"
)

// Finished is what FinishTurn found or left: the turn's end, and the session's title with where it comes from.
type Finished struct {
	State      schema.TurnState
	StopReason schema.StopReason
	Title      string
	// TitleChanged is true when this turn gave the session its title.
	TitleChanged bool
	// Again is true when the books were closed before.
	Again bool
}

// FinishTurn closes the turn's books in one transaction: the state, the session's counters and its title. Counters change on every
// outcome and once per turn, however often this runs. fallback is the title for a session that has none by then.
func (s *Store) FinishTurn(ctx context.Context, in schema.FinishTurnInput, fallback string) (Finished, error) {
	var f Finished
	err := s.tx(ctx, "finish turn", func(db *gorm.DB) error {
		var turn Turn
		if err := db.Where("id = ?", in.TurnID).Take(&turn).Error; err != nil {
			return err
		}
		var session Session
		if err := forUpdate(db).Where(&Session{Key: turn.SessionKey}).Take(&session).Error; err != nil {
			return err
		}
		if turn.State.Over() {
			// The row of the first run stands. Its title event may have been lost with it, so the title is told again.
			f = Finished{State: turn.State, StopReason: turn.StopReason, Title: session.Title, TitleChanged: turn.Title != "" && turn.Title == session.Title, Again: true}
			return nil
		}
		if err := endAbandoned(db, in.TurnRef); err != nil {
			return err
		}
		if err := closeDangling(db, in.TurnRef); err != nil {
			return err
		}
		f = Finished{State: in.State, StopReason: in.StopReason}
		f.Title, f.TitleChanged = takeTitle(&session, turn.Title, fallback)
		if err := count(db, &session, in); err != nil {
			return err
		}
		if err := saveCounters(db, &session); err != nil {
			return err
		}
		return db.Model(&turn).Updates(finishedColumns(db, in, f)).Error
	})
	return f, err
}

// takeTitle gives the session the turn's title, or the fallback when it has none at all.
func takeTitle(session *Session, made, fallback string) (title string, changed bool) {
	source := session.Metadata.TitleSource
	switch {
	case made != "" && (source == TitleNone || source == TitleFallback):
		session.Title, session.Metadata.TitleSource = made, TitleAuto
		return made, true
	case source == TitleNone:
		session.Title, session.Metadata.TitleSource = fallback, TitleFallback
		return fallback, true
	default:
		return session.Title, false
	}
}

// count adds the turn to the session's counters: the user's message, the assistant once, every tool message.
func count(db *gorm.DB, session *Session, in schema.FinishTurnInput) error {
	var messages []Message
	if err := db.Select("role", "name").Where("turn_id = ?", in.TurnID).Find(&messages).Error; err != nil {
		return err
	}
	assistant := 0
	for _, m := range messages {
		switch m.Role {
		case RoleAssistant:
			assistant = 1
		case RoleTool:
			if session.Stats.ToolCalls == nil {
				session.Stats.ToolCalls = map[string]int{}
			}
			session.Stats.ToolCalls[m.Name]++
			session.MessageCount++
		default:
			session.MessageCount++
		}
	}
	session.MessageCount += assistant
	session.LLMCallsCount += in.Usage.LLMCalls
	session.InputTokens += in.Usage.InputTokens
	session.OutputTokens += in.Usage.OutputTokens
	session.TotalTokens += in.Usage.TotalTokens
	now := db.NowFunc()
	session.LastMessageAt = &now
	return nil
}

// saveCounters writes what a turn's end changes of its session.
func saveCounters(db *gorm.DB, session *Session) error {
	return db.Model(session).Select("*").Omit("ID", "CreatedAt", "Pinned", "TurnCount", "LastTurnID").Updates(session).Error
}

func finishedColumns(db *gorm.DB, in schema.FinishTurnInput, f Finished) map[string]any {
	columns := map[string]any{
		"state": in.State, "stop_reason": in.StopReason, "steps": in.Steps, "finished_at": db.NowFunc(),
		"input_tokens": in.Usage.InputTokens, "output_tokens": in.Usage.OutputTokens,
	}
	if f.TitleChanged {
		columns["title"] = f.Title
	}
	if in.Failure != nil {
		columns["error_code"], columns["error_text"] = in.Failure.Code, in.Failure.Message
	}
	return columns
}
