package store

import (
	"context"
	"fmt"
	"time"

	"gns3copilot/schema"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Purpose says what a model was called for.
type Purpose string

// The purposes.
const (
	PurposeAnswer Purpose = "answer"
	PurposeTitle  Purpose = "title"
	PurposeTry    Purpose = "try" // of a configuration: it belongs to no turn
)

// ModelCall is a request that was sent to a model, and what it has used. It holds no text.
type ModelCall struct {
	ID     int64  `gorm:"primaryKey;autoIncrement"`
	TurnID string `gorm:"not null;uniqueIndex:idx_usage_call,priority:1"`
	// Call tells the turn's calls apart: a call that is noted again is the same.
	Call      string `gorm:"not null;uniqueIndex:idx_usage_call,priority:2"`
	Step      int    `gorm:"not null"` // 0 for a title
	Attempt   int    `gorm:"not null"`
	Purpose   Purpose
	UserID    string `gorm:"not null;index:idx_usage_day,priority:1"`
	Day       string `gorm:"not null;index:idx_usage_day,priority:2"` // in UTC, as schema.Date has it
	ProjectID string `gorm:"not null"`
	// SessionKey is the session's; of a deleted one the turn's own id.
	SessionKey   string `gorm:"not null;index"`
	ConfigName   string `gorm:"not null"`
	Provider     string `gorm:"not null"`
	Model        string `gorm:"not null"`
	InputTokens  int    `gorm:"not null"`
	OutputTokens int    `gorm:"not null"`
	Estimated    bool   `gorm:"not null"`
	// CostMicroUSD is in millionths of a US dollar, 0 while CostKnown is false.
	CostMicroUSD int64     `gorm:"column:cost_micro_usd;not null"`
	CostKnown    bool      `gorm:"not null"`
	CreatedAt    time.Time `gorm:"not null"`
}

// TableName says what the rows are for.
func (ModelCall) TableName() string { return "model_usage" }

// Usage is what the call has used.
func (c ModelCall) Usage() schema.Usage {
	return schema.Usage{
		InputTokens: c.InputTokens, OutputTokens: c.OutputTokens, TotalTokens: c.InputTokens + c.OutputTokens,
		Estimated: c.Estimated, CostMicroUSD: c.CostMicroUSD, CostUnknown: !c.CostKnown,
	}
}

// sums are the columns of a usageSum.
const sums = `COUNT(*) AS calls,
CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT) AS input_tokens, CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT) AS output_tokens,
CAST(COALESCE(SUM(cost_micro_usd), 0) AS BIGINT) AS cost_micro_usd,
COALESCE(MAX(CASE WHEN cost_known THEN 0 ELSE 1 END), 0) AS unknown, COALESCE(MAX(CASE WHEN estimated THEN 1 ELSE 0 END), 0) AS estimates`

// usageSum sums up calls. Unknown and Estimates are 1 when there is a call whose price isn't known, or whose tokens are estimated.
type usageSum struct {
	Calls, InputTokens, OutputTokens int
	CostMicroUSD                     int64 `gorm:"column:cost_micro_usd"`
	Unknown, Estimates               int
}

// usage is the sum as a turn's books have it, without its calls: those are counted by who makes them.
func (u usageSum) usage() schema.Usage {
	return schema.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens,
		Estimated: u.Estimates > 0, CostMicroUSD: u.CostMicroUSD, CostUnknown: u.Unknown > 0,
	}
}

func (u usageSum) view() schema.UsageSum {
	return schema.UsageSum{
		LLMCalls: u.Calls, InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens,
		CostUSD: schema.USD(u.CostMicroUSD), CostKnown: u.Unknown == 0, Estimated: u.Estimates > 0,
	}
}

// NoteCall adds a call to the books, once, and gives what its step has used by then, failed tries included, and its user on that day.
func (s *Store) NoteCall(ctx context.Context, c ModelCall) (step schema.Usage, day schema.DaySum, err error) {
	err = s.tx(ctx, "note model call", func(db *gorm.DB) error {
		c.CreatedAt = db.NowFunc()
		c.Day = schema.Date(c.CreatedAt)
		if c.Purpose != PurposeTry {
			// The session may have been deleted meanwhile: a later one of that name has its key.
			var turn Turn
			if err := db.Select("session_key").Where("id = ?", c.TurnID).Take(&turn).Error; err != nil {
				return err
			}
			c.SessionKey = turn.SessionKey
		}
		if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&c).Error; err != nil {
			return err
		}
		step, day, err = stepUsage(db, c.TurnID, c.Step, c.UserID, c.Day)
		return err
	})
	return step, day, err
}

// StepUsage gives what a turn's step has used, and its user today.
func (s *Store) StepUsage(ctx context.Context, ref schema.TurnRef, step int) (schema.Usage, schema.DaySum, error) {
	used, day, err := stepUsage(s.read.WithContext(ctx), ref.TurnID, step, ref.UserID, schema.Date(s.now()))
	if err != nil {
		return used, day, fmt.Errorf("read usage of step: %w", domainError(err))
	}
	return used, day, nil
}

func stepUsage(db *gorm.DB, turnID string, step int, userID, date string) (schema.Usage, schema.DaySum, error) {
	var of usageSum
	err := db.Model(&ModelCall{}).Select(sums).Where("turn_id = ? AND step = ? AND purpose = ?", turnID, step, PurposeAnswer).Scan(&of).Error
	if err != nil {
		return schema.Usage{}, schema.DaySum{}, err
	}
	day, err := daySum(db, userID, date)
	return of.usage(), day, err
}

func daySum(db *gorm.DB, userID, date string) (schema.DaySum, error) {
	var of usageSum
	err := db.Model(&ModelCall{}).Select(sums).Where("user_id = ? AND day = ?", userID, date).Scan(&of).Error
	return schema.DaySum{Date: date, Tokens: of.InputTokens + of.OutputTokens, CostMicroUSD: of.CostMicroUSD}, err
}

// TurnUsage gives what a turn's answers have used, failed and aborted tries included.
func (s *Store) TurnUsage(ctx context.Context, ref schema.TurnRef) (schema.Usage, error) {
	var of usageSum
	err := s.read.WithContext(ctx).Model(&ModelCall{}).Select(sums).Where("turn_id = ? AND purpose = ?", ref.TurnID, PurposeAnswer).Scan(&of).Error
	if err != nil {
		return schema.Usage{}, fmt.Errorf("read usage of turn: %w", domainError(err))
	}
	return of.usage(), nil
}

// DaySum gives what a user has used on the day of a moment.
func (s *Store) DaySum(ctx context.Context, userID string, at time.Time) (schema.DaySum, error) {
	day, err := daySum(s.read.WithContext(ctx), userID, schema.Date(at))
	if err != nil {
		return day, fmt.Errorf("read usage of day: %w", domainError(err))
	}
	return day, nil
}

// UsageFilter says which of a user's calls to sum up: since a day, and in one project or of sessions with one name unless those are empty.
type UsageFilter struct {
	UserID, Since, ProjectID, SessionID string
}

func (s *Store) usage(ctx context.Context, f UsageFilter) *gorm.DB {
	q := s.read.WithContext(ctx).Table("model_usage").Where("model_usage.user_id = ? AND day >= ?", f.UserID, f.Since)
	if f.ProjectID != "" {
		q = q.Where("model_usage.project_id = ?", f.ProjectID)
	}
	if f.SessionID != "" {
		q = q.Where("session_key IN (?)", s.read.Model(&Session{}).Select("key").Where("user_id = ? AND thread_id = ?", f.UserID, f.SessionID))
	}
	return q
}

// UsageOfDays sums up by day, newest first. Days without a call are left out.
func (s *Store) UsageOfDays(ctx context.Context, f UsageFilter) ([]schema.DayUsage, error) {
	var rows []struct {
		Day string
		Sum usageSum `gorm:"embedded"`
	}
	if err := s.usage(ctx, f).Select("day, " + sums).Group("day").Order("day DESC").Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read usage by day: %w", domainError(err))
	}
	days := []schema.DayUsage{}
	for _, r := range rows {
		days = append(days, schema.DayUsage{Date: r.Day, UsageSum: r.Sum.view()})
	}
	return days, nil
}

// UsageOfSessions sums up by session, the last used first. Deleted sessions are left out.
func (s *Store) UsageOfSessions(ctx context.Context, f UsageFilter, limit int) ([]schema.SessionUsage, error) {
	var rows []struct {
		ProjectID, ThreadID, Title string
		Turns                      int
		Sum                        usageSum `gorm:"embedded"`
	}
	own := s.usage(ctx, f).Select("session_key, COUNT(DISTINCT turn_id) AS turns, MAX(model_usage.id) AS newest, " + sums).Group("session_key")
	err := s.read.WithContext(ctx).Table("(?) AS u", own).Select("u.*, s.project_id, s.thread_id, s.title").
		Joins("JOIN chat_sessions AS s ON s.key = u.session_key").Order("newest DESC").Limit(limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read usage by session: %w", domainError(err))
	}
	sessions := []schema.SessionUsage{}
	for _, r := range rows {
		sessions = append(sessions, schema.SessionUsage{
			ProjectID: r.ProjectID, SessionID: r.ThreadID, Title: r.Title, Turns: r.Turns, UsageSum: r.Sum.view(),
		})
	}
	return sessions, nil
}
