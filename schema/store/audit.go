package store

import (
	"context"
	"time"

	"gorm.io/gorm"
)

// AuditEvent is one line of the trail from a question to a device. Rows are only ever added: the database itself refuses to change or
// delete one.
type AuditEvent struct {
	ID         int64 `gorm:"primaryKey;autoIncrement"`
	At         time.Time
	Kind       string `gorm:"not null"`
	UserID     string `gorm:"not null"` // who did it, empty for the clock and for the turn itself
	UserName   string `gorm:"not null"`
	OwnerID    string `gorm:"not null"` // whose turn it is
	ProjectID  string `gorm:"not null;index"`
	SessionKey string `gorm:"not null"`
	TurnID     string `gorm:"not null;index"`
	ToolCallID string `gorm:"not null"`
	Device     string `gorm:"not null"`
	Text       string `gorm:"not null"`
}

// audit adds a line within the transaction of what it tells about.
func audit(db *gorm.DB, e AuditEvent) error {
	e.At = db.NowFunc()
	return db.Create(&e).Error
}

// NoteAbort adds who asked for the end of a session's last turn.
func (s *Store) NoteAbort(ctx context.Context, session Session, userID, userName string) error {
	return s.tx(ctx, "note abort", func(db *gorm.DB) error {
		return audit(db, AuditEvent{Kind: "abort requested", UserID: userID, UserName: userName, OwnerID: session.UserID,
			ProjectID: session.ProjectID, SessionKey: session.Key, TurnID: session.LastTurnID})
	})
}

// guardAudit makes the table append-only.
func guardAudit(db *gorm.DB, postgres bool) error {
	statements := []string{
		`CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END`,
		`CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END`,
	}
	if postgres {
		statements = []string{
			`CREATE FUNCTION audit_append_only() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'audit events are append-only'; END $$ LANGUAGE plpgsql`,
			`CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION audit_append_only()`,
		}
	}
	return execAll(db, statements)
}

// guardAuditWhole closes the ways around the first triggers: a replacing insert on SQLite, and truncation on Postgres.
func guardAuditWhole(db *gorm.DB, postgres bool) error {
	if postgres {
		return execAll(db, []string{
			`CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()`,
		})
	}
	return execAll(db, []string{
		`CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit_events WHEN EXISTS (SELECT 1 FROM audit_events WHERE id = NEW.id)
			BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END`,
	})
}

func execAll(db *gorm.DB, statements []string) error {
	for _, s := range statements {
		if err := db.Exec(s).Error; err != nil {
			return err
		}
	}
	return nil
}
