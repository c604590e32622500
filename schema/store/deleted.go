package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// DeletedProject is a project that the GNS3 server is known to have deleted, and whose sessions are still to be.
type DeletedProject struct {
	ProjectID string    `gorm:"primaryKey"` // in lower case
	At        time.Time `gorm:"not null"`   // when that became known
}

// NoteDeleted keeps in mind that a project was deleted, until Forgotten.
func (s *Store) NoteDeleted(ctx context.Context, projectID string) error {
	return s.tx(ctx, "note deleted project", func(db *gorm.DB) error {
		return db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "project_id"}}, DoUpdates: clause.AssignmentColumns([]string{"at"})}).
			Create(&DeletedProject{ProjectID: strings.ToLower(projectID), At: db.NowFunc()}).Error
	})
}

// DeletedProjects lists the deleted projects that aren't forgotten yet.
func (s *Store) DeletedProjects(ctx context.Context) ([]DeletedProject, error) {
	var all []DeletedProject
	if err := s.read.WithContext(ctx).Order("at").Find(&all).Error; err != nil {
		return nil, fmt.Errorf("list deleted projects: %w", domainError(err))
	}
	return all, nil
}

// SessionsOf lists all users' sessions in a deleted project. Those that are younger belong to a project that was made with its id since.
func (s *Store) SessionsOf(ctx context.Context, p DeletedProject) ([]Session, error) {
	var sessions []Session
	err := s.read.WithContext(ctx).Where("LOWER(project_id) = ? AND created_at <= ?", p.ProjectID, p.At).Order("id").Find(&sessions).Error
	if err != nil {
		return nil, fmt.Errorf("list sessions of a project: %w", domainError(err))
	}
	return sessions, nil
}

// Forgotten ends what NoteDeleted began, unless the project was deleted again meanwhile.
func (s *Store) Forgotten(ctx context.Context, p DeletedProject) error {
	return s.tx(ctx, "forget deleted project", func(db *gorm.DB) error {
		return db.Where("project_id = ? AND at = ?", p.ProjectID, p.At).Delete(&DeletedProject{}).Error
	})
}
