package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gns3copilot/schema"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Approval is a call that needs a human's word, and the word that was given.
type Approval struct {
	ID            string `gorm:"primaryKey"`
	HITLSessionID string `gorm:"column:hitl_session_id;not null;index"`
	TurnID        string `gorm:"not null;uniqueIndex:idx_approval_call,priority:1"`
	ToolCallID    string `gorm:"not null;uniqueIndex:idx_approval_call,priority:2"`
	Step          int    `gorm:"not null"`
	Ordinal       int    `gorm:"not null"`
	SessionKey    string `gorm:"not null;index"`
	SessionID     string `gorm:"not null"`
	UserID        string `gorm:"not null"`
	UserName      string `gorm:"not null;default:''"` // the turn's, set when the call is stored
	ProjectID     string `gorm:"not null;index:idx_approval_project,priority:1"`
	ToolName      string `gorm:"not null"`
	Arguments     string `gorm:"not null"`
	ArgsSHA256    string `gorm:"not null"`
	Danger        schema.Danger
	Description   string               `gorm:"not null"`
	Reasons       []string             `gorm:"type:text;serializer:json"`
	Preview       *schema.Preview      `gorm:"type:text;serializer:json"`
	State         schema.ApprovalState `gorm:"not null;index:idx_approval_project,priority:2"`
	Confirmations int                  `gorm:"not null"`
	Required      int                  `gorm:"not null"`
	DecidedBy     string               `gorm:"not null"`
	DeciderName   string               `gorm:"not null"`
	DecidedAt     *time.Time
	Reason        string `gorm:"not null"`
	ModifiedArgs  string `gorm:"not null"`
	ModifiedSHA   string `gorm:"not null"`
	Summary       string `gorm:"not null"` // of the modification, as the model reads it
	ExpiresAt     time.Time
	CreatedAt     time.Time
}

// DecisionRow is a human's word before the workflow has heard it, and what the workflow made of it.
type DecisionRow struct {
	ID            string                `gorm:"primaryKey"`
	HITLSessionID string                `gorm:"column:hitl_session_id;not null"`
	Action        schema.DecisionAction `gorm:"not null"`
	CallIDs       []string              `gorm:"type:text;serializer:json"`
	Second        bool                  `gorm:"not null"`
	DecidedBy     string                `gorm:"not null"`
	DeciderName   string                `gorm:"not null"`
	DecidedAt     time.Time
	Reason        string `gorm:"not null"`
	ModifiedArgs  string `gorm:"not null"`
	ModifiedSHA   string `gorm:"not null"`
	Summary       string `gorm:"not null"`
	// BodySHA256 tells whether a repeated Idempotency-Key comes with the same decision.
	BodySHA256 string                       `gorm:"not null"`
	Outcome    *schema.RecordDecisionOutput `gorm:"type:text;serializer:json"`
}

// TableName names the table after what it holds.
func (DecisionRow) TableName() string { return "decisions" }

// AddApprovals stores calls that wait, once each.
func (s *Store) AddApprovals(ctx context.Context, rows []Approval) error {
	return s.tx(ctx, "store approvals", func(db *gorm.DB) error {
		for _, a := range rows {
			a.State = schema.ApprovalPending
			if err := addApproval(db, a, "proposed"); err != nil {
				return err
			}
		}
		return nil
	})
}

// addApproval stores a call unless it is there, and its line in the trail with it.
func addApproval(db *gorm.DB, a Approval, kind string) error {
	a.ID, a.CreatedAt = uuid.NewString(), db.NowFunc()
	if err := db.Model(&Turn{}).Where("id = ?", a.TurnID).Limit(1).Pluck("user_name", &a.UserName).Error; err != nil {
		return err
	}
	added := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&a)
	if added.Error != nil || added.RowsAffected == 0 {
		return added.Error
	}
	return audit(db, a.event(kind, a.DecidedBy, a.DeciderName))
}

// AddGranted stores calls that run under the word of whoever modified an earlier call of the turn into just these, once each.
func (s *Store) AddGranted(ctx context.Context, rows []Approval) error {
	if len(rows) == 0 {
		return nil
	}
	return s.tx(ctx, "store granted calls", func(db *gorm.DB) error {
		for _, a := range rows {
			var by Approval
			err := db.Where("turn_id = ? AND state = ? AND modified_sha = ?", a.TurnID, schema.ApprovalModified, a.ArgsSHA256).Where("tool_name = ?", a.ToolName).
				Order("decided_at DESC").Take(&by).Error
			if err != nil {
				return err
			}
			a.State = schema.ApprovalConfirmed
			a.DecidedBy, a.DeciderName, a.DecidedAt, a.Reason = by.DecidedBy, by.DeciderName, by.DecidedAt, "as modified from "+by.ToolCallID
			if err := addApproval(db, a, string(a.State)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Approvals gives the calls of a step that need or needed a word, in the model's order.
func (s *Store) Approvals(ctx context.Context, ref schema.TurnRef, step int) ([]Approval, error) {
	var rows []Approval
	err := s.read.WithContext(ctx).Where("turn_id = ? AND step = ?", ref.TurnID, step).Order("ordinal").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read approvals: %w", domainError(err))
	}
	return rows, nil
}

// Decision finds a human's word. It fails with CodeNotFound.
func (s *Store) Decision(ctx context.Context, id string) (DecisionRow, error) {
	var d DecisionRow
	if err := s.read.WithContext(ctx).Where("id = ?", id).Take(&d).Error; err != nil {
		return d, fmt.Errorf("read decision: %w", domainError(err))
	}
	return d, nil
}

// PutDecision stores a human's word for the workflow to find. A repeated one with the same id is given back as it was stored.
func (s *Store) PutDecision(ctx context.Context, d DecisionRow) (DecisionRow, error) {
	err := s.tx(ctx, "store decision", func(db *gorm.DB) error {
		added := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&d)
		if added.Error != nil || added.RowsAffected == 1 {
			return added.Error
		}
		id := d.ID
		d = DecisionRow{}
		return db.Where("id = ?", id).Take(&d).Error
	})
	return d, err
}

// Decide applies a decision to the calls that it names: the first word on each stands. A word after the deadline changes nothing, and
// neither does one with a reason to refuse it. Run again it gives the same answer.
func (s *Store) Decide(ctx context.Context, ref schema.TurnRef, step int, decision schema.Decision, refused string) (schema.RecordDecisionOutput, error) {
	var out schema.RecordDecisionOutput
	err := s.tx(ctx, "record decision", func(db *gorm.DB) error {
		var row DecisionRow
		if err := db.Where("id = ?", decision.ID).Take(&row).Error; err != nil {
			return err
		}
		if row.Outcome != nil {
			out = *row.Outcome
			return nil
		}
		out.Refused = refused
		var approvals []Approval
		if err := db.Where("turn_id = ? AND step = ?", ref.TurnID, step).Order("ordinal").Find(&approvals).Error; err != nil {
			return err
		}
		for _, a := range approvals {
			if !slices.Contains(row.CallIDs, a.ToolCallID) {
				continue
			}
			decided := schema.DecidedCall{ID: a.ToolCallID, State: a.State}
			if refused == "" {
				var err error
				if decided, err = a.decide(db, row, decision.DecidedAt); err != nil {
					return err
				}
			}
			out.Calls = append(out.Calls, decided)
		}
		return db.Model(&row).Select("Outcome").Updates(DecisionRow{Outcome: &out}).Error
	})
	return out, err
}

func (a Approval) decide(db *gorm.DB, row DecisionRow, at time.Time) (schema.DecidedCall, error) {
	unchanged := schema.DecidedCall{ID: a.ToolCallID, State: a.State}
	if a.State != schema.ApprovalPending || !at.Before(a.ExpiresAt) {
		return unchanged, nil
	}
	first := a.DeciderName
	a.DecidedBy, a.DeciderName, a.DecidedAt, a.Reason = row.DecidedBy, row.DeciderName, &at, row.Reason
	switch row.Action {
	case schema.DecideReject:
		a.State = schema.ApprovalRejected
	case schema.DecideModify:
		a.State, a.ModifiedArgs, a.ModifiedSHA, a.Summary = schema.ApprovalModified, row.ModifiedArgs, row.ModifiedSHA, row.Summary
	default:
		// The second word on a high danger must say that it is the second, and the first that it isn't: a double click isn't two.
		if a.Required > 1 && row.Second != (a.Confirmations > 0) {
			return unchanged, nil
		}
		if a.Confirmations > 0 && first != row.DeciderName { // both have allowed it
			a.DeciderName = first + ", " + row.DeciderName
		}
		if a.Confirmations++; a.Confirmations >= a.Required {
			a.State = schema.ApprovalConfirmed
		}
	}
	err := db.Model(&a).Where("state = ?", schema.ApprovalPending).
		Select("State", "Confirmations", "DecidedBy", "DeciderName", "DecidedAt", "Reason", "ModifiedArgs", "ModifiedSHA", "Summary").Updates(&a).Error
	if err != nil {
		return unchanged, err
	}
	kind := string(a.State)
	if a.State == schema.ApprovalPending {
		kind = "first confirmation"
	}
	if err := audit(db, a.event(kind, row.DecidedBy, row.DeciderName)); err != nil {
		return unchanged, err
	}
	decided := schema.DecidedCall{ID: a.ToolCallID, State: a.State, Applied: true}
	// A modified high danger is gated again, so that it gets its two confirmations.
	if a.State == schema.ApprovalModified && a.Danger != schema.DangerHigh {
		decided.Grant = schema.Grant(a.ToolName, a.ModifiedSHA)
	}
	return decided, nil
}

// EndApprovals ends what is still pending of the named calls as expired or aborted, and gives those that it ended.
func (s *Store) EndApprovals(ctx context.Context, in schema.ExpireInput) ([]Approval, error) {
	var ended []Approval
	err := s.tx(ctx, "end approvals", func(db *gorm.DB) error {
		err := db.Where("turn_id = ? AND step = ? AND tool_call_id IN ? AND state IN ?", in.TurnID, in.Step, in.Calls,
			[]schema.ApprovalState{schema.ApprovalPending, in.State}).Order("ordinal").Find(&ended).Error
		if err != nil {
			return err
		}
		for i := range ended {
			a := &ended[i]
			if a.State == in.State {
				continue // by an earlier run of this
			}
			if err := a.end(db, in.State, in.Reason); err != nil {
				return err
			}
		}
		return nil
	})
	return ended, err
}

// end ends a call that nobody has decided. There may be a reason.
func (a *Approval) end(db *gorm.DB, state schema.ApprovalState, reason string) error {
	now := db.NowFunc()
	a.State, a.DecidedAt, a.Reason = state, &now, reason
	if err := db.Model(a).Select("State", "DecidedAt", "Reason").Updates(a).Error; err != nil {
		return err
	}
	return audit(db, a.event(string(state), "", ""))
}

func (a Approval) event(kind, userID, userName string) AuditEvent {
	return AuditEvent{
		Kind: "approval " + kind, UserID: userID, UserName: userName, OwnerID: a.UserID, ProjectID: a.ProjectID, SessionKey: a.SessionKey,
		TurnID: a.TurnID, ToolCallID: a.ToolCallID, Text: a.Reason,
	}
}

// View is the call as the one who decides sees it.
func (a Approval) View(now time.Time) schema.PendingTool {
	var args any = a.Arguments
	if json.Valid([]byte(a.Arguments)) {
		args = json.RawMessage(a.Arguments) // keys and numbers stay as they are
	}
	remaining := 0
	if a.State == schema.ApprovalPending { // also after the first of two confirmations
		remaining = max(0, int(a.ExpiresAt.Sub(now).Seconds()))
	}
	return schema.PendingTool{
		ToolCallID: a.ToolCallID, ToolName: a.ToolName, ToolArgs: args, DangerLevel: a.Danger, Description: a.Description,
		ArgsSHA256: a.ArgsSHA256, Reasons: a.Reasons, Preview: a.Preview, Remaining: remaining,
		ExpiresAt: a.ExpiresAt, Confirmations: a.Confirmations, ConfirmationsRequired: a.Required,
	}
}
