package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// ConsoleLease says which worker may write to a console. Fence grows with each new holder.
type ConsoleLease struct {
	Address   string `gorm:"primaryKey"`
	Holder    string `gorm:"not null"`
	Who       string `gorm:"not null"` // in words, for those who wait
	Fence     int64  `gorm:"not null"`
	ExpiresAt time.Time
}

// TakeLease takes or renews the console for a holder. When somebody else has it, taken is false and the lease says who.
func (s *Store) TakeLease(ctx context.Context, address, holder, who string, life time.Duration) (lease ConsoleLease, taken bool, err error) {
	err = s.tx(ctx, "take console", func(db *gorm.DB) error {
		now := db.NowFunc()
		fresh := ConsoleLease{Address: address, Holder: holder, Who: who, Fence: 1, ExpiresAt: now.Add(life)}
		added := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&fresh)
		if added.Error != nil || added.RowsAffected == 1 {
			lease, taken = fresh, true
			return added.Error
		}
		if err := db.Where("address = ?", address).Take(&lease).Error; err != nil {
			return err
		}
		if lease.Holder != holder && now.Before(lease.ExpiresAt) {
			return nil
		}
		if lease.Holder != holder {
			lease.Fence++
		}
		lease.Holder, lease.Who, lease.ExpiresAt, taken = holder, who, now.Add(life), true
		return db.Model(&ConsoleLease{}).Where("address = ?", address).Select("Holder", "Who", "Fence", "ExpiresAt").Updates(&lease).Error
	})
	return lease, taken, err
}

// DropLease gives the console back, if the holder still has it.
func (s *Store) DropLease(ctx context.Context, address, holder string) error {
	return s.tx(ctx, "give console back", func(db *gorm.DB) error {
		return db.Model(&ConsoleLease{}).Where("address = ? AND holder = ?", address, holder).Update("expires_at", time.Unix(0, 0)).Error
	})
}
