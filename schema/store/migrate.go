package store

import (
	"context"
	"fmt"

	"github.com/go-gormigrate/gormigrate/v2"
	"gorm.io/gorm"
)

// migrationLock is the advisory lock that several starting processes meet at on Postgres; on SQLite the immediate transaction
// is the lock.
const migrationLock = 0x676e7333

// migrations are the schema's versions in order. A landed one is never edited.
func migrations(postgres bool) []*gormigrate.Migration {
	return []*gormigrate.Migration{{
		ID:      "2026-11-30-turns",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&Session{}, &Turn{}, &Message{}) },
	}, {
		ID: "2026-11-30-approvals",
		Migrate: func(db *gorm.DB) error {
			if err := db.AutoMigrate(&Approval{}, &DecisionRow{}, &DeviceRun{}, &AuditEvent{}, &ConsoleLease{}); err != nil {
				return err
			}
			return guardAudit(db, postgres)
		},
	}, {
		ID:      "2026-11-30-audit-replace",
		Migrate: func(db *gorm.DB) error { return guardAuditWhole(db, postgres) },
	}, {
		ID:      "2026-11-30-lines-begun",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&DeviceRun{}) },
	}, {
		ID:      "2026-11-30-provider-extras",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&Message{}) },
	}, {
		ID:      "2026-11-30-model-configs",
		Migrate: addModelConfigs,
	}, {
		ID:      "2026-11-30-usage",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&ModelCall{}) },
	}, {
		ID:      "2026-11-30-lab-changes",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&DeviceRun{}) },
	}, {
		ID:      "2026-11-30-deleted-projects",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&DeletedProject{}) },
	}, {
		ID:      "2026-11-30-logins",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&Login{}) },
	}, {
		ID:      "2026-11-30-deletions-kept",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&DeletedProject{}) },
	}, {
		ID:      "2026-11-30-who-asked",
		Migrate: func(db *gorm.DB) error { return db.AutoMigrate(&Turn{}, &Approval{}) },
	}}
}

// Migrate brings the schema up to date. Processes that start together wait for each other. It fails with CodeUnavailable.
func (s *Store) Migrate(ctx context.Context) error {
	err := s.write.WithContext(ctx).Connection(func(db *gorm.DB) error {
		if s.postgres {
			if err := db.Exec("SELECT pg_advisory_lock(?)", migrationLock).Error; err != nil {
				return err
			}
			defer db.Exec("SELECT pg_advisory_unlock(?)", migrationLock)
		}
		options := *gormigrate.DefaultOptions
		options.UseTransaction = true
		return gormigrate.New(db, &options, migrations(s.postgres)).Migrate()
	})
	if err != nil {
		return fmt.Errorf("migrate the database: %w", unavailable(err))
	}
	return nil
}
