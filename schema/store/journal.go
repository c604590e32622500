package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gns3copilot/schema"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// RunState is where a push to one device stands.
type RunState string

// The states. Only a running one may send; nothing leaves the others.
const (
	RunRunning RunState = "running"
	RunDone    RunState = "done"    // all lines acknowledged
	RunFailed  RunState = "failed"  // it ended early, and how is known
	RunUnknown RunState = "unknown" // fenced off: the acknowledged lines are known, the rest not
	RunNothing RunState = "nothing" // a tombstone: it never began and never will
)

// RunKind is what a journal is of.
type RunKind string

// The kinds. A change of the lab is one request: it has one line, which tells in words what is done.
const (
	KindDevice RunKind = "device" // lines typed on a device
	KindLab    RunKind = "lab"    // a node, a link or a snapshot of the project
)

// DeviceRun is the journal of one push, or of one change of the lab: a claim before the first byte, and what is known of it afterwards.
type DeviceRun struct {
	ID         string   `gorm:"primaryKey"`
	TurnID     string   `gorm:"not null;uniqueIndex:idx_run,priority:1"`
	ToolCallID string   `gorm:"not null;uniqueIndex:idx_run,priority:2"`
	Device     string   `gorm:"not null;uniqueIndex:idx_run,priority:3"`
	Kind       RunKind  `gorm:"not null;default:device"`
	NodeID     string   `gorm:"not null"`
	SessionKey string   `gorm:"not null;index"`
	UserID     string   `gorm:"not null"`
	ProjectID  string   `gorm:"not null"`
	Lines      []string `gorm:"type:text;serializer:json"`
	State      RunState `gorm:"not null"`
	// Begun counts the lines that may have been typed, once the sender has said so; Acked those whose prompt came back.
	Begun      int    `gorm:"not null;default:0"`
	Acked      int    `gorm:"not null"`
	Output     string `gorm:"not null"`
	Error      string `gorm:"not null"`
	Before     string `gorm:"not null"` // running configuration
	After      string `gorm:"not null"`
	Diff       string `gorm:"not null"`
	StartedAt  time.Time
	FinishedAt *time.Time
}

// MayHaveBegun is how many lines may have been typed. While a push runs, and for one whose sender was lost, that is one more than were
// acknowledged: a line is begun only when the one before it is.
func (r DeviceRun) MayHaveBegun() int {
	if r.State == RunRunning || r.State == RunUnknown {
		return min(r.Acked+1, len(r.Lines))
	}
	return r.Begun
}

func run(db *gorm.DB, ref schema.TurnRef, callID, device string) *gorm.DB {
	return db.Where("turn_id = ? AND tool_call_id = ? AND device = ?", ref.TurnID, callID, device)
}

// Claim is what is about to be done.
type Claim struct {
	Kind           RunKind
	Device, NodeID string
	Lines          []string
}

// ClaimRun takes the push for this caller, before its first byte. It fails with CodeConflict when it was taken or settled before: then
// nothing may be sent.
func (s *Store) ClaimRun(ctx context.Context, ref schema.TurnRef, callID string, c Claim) error {
	return s.tx(ctx, "claim push", func(db *gorm.DB) error {
		r := DeviceRun{
			ID: uuid.NewString(), TurnID: ref.TurnID, ToolCallID: callID, Device: c.Device, Kind: c.Kind, NodeID: c.NodeID, SessionKey: ref.SessionKey,
			UserID: ref.UserID, ProjectID: ref.ProjectID, Lines: c.Lines, State: RunRunning, StartedAt: db.NowFunc(),
		}
		added := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&r)
		if added.Error != nil {
			return added.Error
		}
		if added.RowsAffected == 0 {
			return schema.Errorf(schema.CodeConflict, "This push was begun before; it is not sent again.")
		}
		what := fmt.Sprintf("%d lines", len(c.Lines))
		if c.Kind == KindLab {
			what = strings.Join(c.Lines, "; ")
		}
		return audit(db, r.event("began", what))
	})
}

// AckLine notes that the device has acknowledged line n, counted from 0. It fails with CodeConflict when the push was fenced off meanwhile:
// then the sender must stop.
func (s *Store) AckLine(ctx context.Context, ref schema.TurnRef, callID, device string, n int) error {
	return s.tx(ctx, "acknowledge line", func(db *gorm.DB) error {
		return fenced(run(db.Model(&DeviceRun{}), ref, callID, device).Where("state = ? AND acked = ?", RunRunning, n).Update("acked", n+1))
	})
}

// CheckRun tells whether the push may go on. It fails with CodeConflict when it may not.
func (s *Store) CheckRun(ctx context.Context, ref schema.TurnRef, callID, device string) error {
	var n int64
	err := run(s.read.WithContext(ctx).Model(&DeviceRun{}), ref, callID, device).Where("state = ?", RunRunning).Count(&n).Error
	if err == nil && n == 0 {
		return errFenced()
	}
	return domainError(err)
}

func fenced(updated *gorm.DB) error {
	if updated.Error == nil && updated.RowsAffected == 0 {
		return errFenced()
	}
	return updated.Error
}

func errFenced() error {
	return schema.Errorf(schema.CodeConflict, "This push was given up meanwhile; the rest is not sent.")
}

// EndRun settles the push by who did it. It fails with CodeConflict when it was fenced off meanwhile.
func (s *Store) EndRun(ctx context.Context, ref schema.TurnRef, callID string, end DeviceRun) error {
	return s.tx(ctx, "settle push", func(db *gorm.DB) error {
		now := db.NowFunc()
		end.FinishedAt = &now
		known := []string{"State", "Begun", "Output", "Error", "Before", "After", "Diff", "FinishedAt"}
		if end.Kind == KindLab { // it has no lines that are acknowledged one by one, and what it made has its id only now
			known = append(known, "Acked", "NodeID")
		}
		err := fenced(run(db.Model(&DeviceRun{}), ref, callID, end.Device).Where("state = ?", RunRunning).Select(known).Updates(&end))
		if err != nil {
			return err
		}
		end.TurnID, end.ToolCallID, end.SessionKey, end.UserID, end.ProjectID = ref.TurnID, callID, ref.SessionKey, ref.UserID, ref.ProjectID
		return audit(db, end.event(string(end.State), end.Error))
	})
}

// SettleRun makes sure that the push goes no further and gives what is known of it: a tombstone when it never began.
func (s *Store) SettleRun(ctx context.Context, ref schema.TurnRef, callID, device string, kind RunKind) (r DeviceRun, err error) {
	err = s.tx(ctx, "settle push", func(db *gorm.DB) error {
		r, err = settle(db, ref, callID, device, kind)
		return err
	})
	return r, err
}

func settle(db *gorm.DB, ref schema.TurnRef, callID, device string, kind RunKind) (DeviceRun, error) {
	var r DeviceRun
	now := db.NowFunc()
	tombstone := DeviceRun{
		ID: uuid.NewString(), TurnID: ref.TurnID, ToolCallID: callID, Device: device, Kind: kind, SessionKey: ref.SessionKey,
		UserID: ref.UserID, ProjectID: ref.ProjectID, State: RunNothing, StartedAt: now, FinishedAt: &now,
	}
	added := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&tombstone)
	if added.Error != nil {
		return r, added.Error
	}
	fence := run(db.Model(&DeviceRun{}), ref, callID, device).Where("state = ?", RunRunning).
		Updates(map[string]any{"state": RunUnknown, "finished_at": now})
	if fence.Error != nil {
		return r, fence.Error
	}
	if err := run(db, ref, callID, device).Take(&r).Error; err != nil {
		return r, err
	}
	if added.RowsAffected == 1 || fence.RowsAffected == 1 {
		return r, audit(db, r.event(string(r.State), fmt.Sprintf("%d of %d lines acknowledged", r.Acked, len(r.Lines))))
	}
	return r, nil
}

// Runs gives the journal of a call by device.
func (s *Store) Runs(ctx context.Context, ref schema.TurnRef, callID string) (map[string]DeviceRun, error) {
	var rows []DeviceRun
	err := s.read.WithContext(ctx).Where("turn_id = ? AND tool_call_id = ?", ref.TurnID, callID).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", domainError(err))
	}
	byDevice := make(map[string]DeviceRun, len(rows))
	for _, r := range rows {
		byDevice[r.Device] = r
	}
	return byDevice, nil
}

// event is an entry of the audit trail; what happened is worded by the journal's kind.
func (r DeviceRun) event(happened, text string) AuditEvent {
	what := "push "
	if r.Kind == KindLab {
		what = "lab change "
	}
	return AuditEvent{
		Kind: what + happened, OwnerID: r.UserID, ProjectID: r.ProjectID, SessionKey: r.SessionKey, TurnID: r.TurnID, ToolCallID: r.ToolCallID,
		Device: r.Device, Text: text,
	}
}
