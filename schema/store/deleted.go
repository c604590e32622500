package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// DeletedProject is a project that the GNS3 server is known to have deleted. A client may give its id to a new one.
type DeletedProject struct {
	ProjectID string    `gorm:"primaryKey"` // in lower case
	At        time.Time `gorm:"not null"`   // when that became known
	Forgotten bool      `gorm:"not null;default:false"`
}

// ofThisProject leaves out approvals that were asked for in a deleted project with the id of one that there is now. A turn that ran when it was
// deleted may have asked for some until it was aborted.
const ofThisProject = `NOT EXISTS (SELECT 1 FROM deleted_projects LEFT JOIN turns ON turns.id = approvals.turn_id
	WHERE deleted_projects.project_id = LOWER(approvals.project_id) AND deleted_projects.at >= COALESCE(turns.started_at, approvals.created_at))`

// NoteDeleted keeps in mind that a project was deleted, as was known at that time, and that its sessions are to be. Of several times the last stands.
func (s *Store) NoteDeleted(ctx context.Context, projectID string, at time.Time) error {
	return s.tx(ctx, "note deleted project", func(db *gorm.DB) error {
		return db.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "project_id"}}, DoUpdates: clause.AssignmentColumns([]string{"at", "forgotten"}),
			Where: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "excluded.at > deleted_projects.at"}}},
		}).Create(&DeletedProject{ProjectID: strings.ToLower(projectID), At: at.UTC()}).Error
	})
}

// DeletedProjects lists the deleted projects whose sessions are still to be.
func (s *Store) DeletedProjects(ctx context.Context) ([]DeletedProject, error) {
	var all []DeletedProject
	if err := s.read.WithContext(ctx).Where("NOT forgotten").Order("at").Find(&all).Error; err != nil {
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
		return db.Model(&DeletedProject{}).Where("project_id = ? AND at = ?", p.ProjectID, p.At).Update("forgotten", true).Error
	})
}
