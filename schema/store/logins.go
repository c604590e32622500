package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"gns3copilot/schema"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Login is a GNS3 login that has been used here, and is kept until its token expires by itself.
type Login struct {
	TokenHash string    `gorm:"primaryKey"`
	UserID    string    `gorm:"not null;index"`
	Ended     bool      `gorm:"not null"` // here; GNS3 may go on to take the token
	ExpiresAt time.Time `gorm:"not null;index"`
}

// maxLogin bounds how long a login is kept whose token doesn't say when it expires.
const maxLogin = 365 * 24 * time.Hour

// Login tells whom GNS3 took a token for when it was kept. It fails with CodeUnauthorized when the login was ended, and with CodeNotFound when it
// isn't known.
func (s *Store) Login(ctx context.Context, token string) (userID string, err error) {
	var seen Login
	if err := s.read.WithContext(ctx).Where("token_hash = ?", hashOf(token)).Take(&seen).Error; err != nil {
		return "", fmt.Errorf("read login: %w", domainError(err))
	}
	if seen.Ended {
		return "", schema.Errorf(schema.CodeUnauthorized, "This login is from before the user's new password.").WithHint("Log in again.")
	}
	return seen.UserID, nil
}

// KeepLogin remembers whom GNS3 takes a token for. It goes by names, which are given anew, so that may have changed.
func (s *Store) KeepLogin(ctx context.Context, token, userID string) error {
	return s.tx(ctx, "keep login", func(db *gorm.DB) error {
		now := db.NowFunc()
		if err := db.Where("expires_at < ?", now).Delete(&Login{}).Error; err != nil {
			return err
		}
		expires, told := schema.TokenExpiry(token)
		if latest := now.Add(maxLogin); !told || expires.After(latest) {
			expires = latest
		}
		return db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "token_hash"}}, DoUpdates: clause.AssignmentColumns([]string{"user_id"})}).
			Create(&Login{TokenHash: hashOf(token), UserID: userID, ExpiresAt: expires.UTC()}).Error
	})
}

// EndLogins ends all logins of the user that are known.
func (s *Store) EndLogins(ctx context.Context, userID string) error {
	return s.tx(ctx, "end logins", func(db *gorm.DB) error {
		return db.Model(&Login{}).Where("user_id = ?", userID).Update("ended", true).Error
	})
}

// BeginLogin has a token count again that GNS3 has just given to a login: the logins of one second get the same.
func (s *Store) BeginLogin(ctx context.Context, token string) error {
	if _, err := s.Login(ctx, token); schema.CodeOf(err) != schema.CodeUnauthorized {
		return nil // the first to use it finds out what is wrong else
	}
	return s.tx(ctx, "begin login", func(db *gorm.DB) error {
		return db.Model(&Login{}).Where("token_hash = ?", hashOf(token)).Update("ended", false).Error
	})
}

// hashOf names a token, which is itself not kept, by what its signature is of: GNS3 takes a signature in more than one spelling.
func hashOf(token string) string {
	signed := token
	if i := strings.LastIndexByte(token, '.'); i > 0 {
		signed = token[:i]
	}
	sum := sha256.Sum256([]byte(signed))
	return hex.EncodeToString(sum[:])
}
