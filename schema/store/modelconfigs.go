package store

import (
	"context"
	"fmt"
	"time"

	"gns3copilot/schema"

	"gorm.io/gorm"
)

// ModelConfig is a model configuration of a user or of a group: one of the two ids is empty.
type ModelConfig struct {
	ID          string           `gorm:"column:config_id;primaryKey"`
	UserID      string           `gorm:"not null;index;check:one_owner,(user_id = '') <> (group_id = '')"`
	GroupID     string           `gorm:"not null;index"`
	Name        string           `gorm:"not null"`
	ModelType   schema.ModelType `gorm:"not null"`
	Provider    string           `gorm:"not null"`
	BaseURL     string           `gorm:"not null"`
	Model       string           `gorm:"not null"`
	Temperature float64          `gorm:"not null"`
	// MaxTokens is zero when answers have no bound.
	MaxTokens int `gorm:"not null"`
	// ContextLimit is in thousands of tokens.
	ContextLimit    int                    `gorm:"not null"`
	ContextStrategy schema.ContextStrategy `gorm:"not null"`
	// CopilotMode is empty when the configuration has none.
	CopilotMode schema.Mode `gorm:"not null"`
	// SealedKey is the API key as the vault sealed it for this id; empty without one.
	SealedKey []byte
	// Extra is a JSON object of what else the configuration was given.
	Extra     string    `gorm:"not null"`
	IsDefault bool      `gorm:"not null"`
	Version   int       `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
	UpdatedAt time.Time `gorm:"not null"`
}

// TableName is GNS3's name for the table.
func (ModelConfig) TableName() string { return "llm_model_configs" }

// addModelConfigs makes the table. That an owner has one default at most is for the database to hold.
func addModelConfigs(db *gorm.DB) error {
	if err := db.AutoMigrate(&ModelConfig{}); err != nil {
		return err
	}
	for _, owner := range []string{"user", "group"} {
		err := db.Exec(fmt.Sprintf("CREATE UNIQUE INDEX idx_llm_model_configs_%[1]s_default ON llm_model_configs (%[1]s_id) WHERE is_default AND %[1]s_id <> ''", owner)).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// ModelOwner is whose model configurations they are: a user's or a group's, by the one id that isn't empty.
type ModelOwner struct{ UserID, GroupID string }

// OwnedModels are the model configurations of one user or group.
type OwnedModels struct {
	store *Store
	ModelOwner
}

// OwnedModels narrows the store to what the owner has.
func (s *Store) OwnedModels(owner ModelOwner) OwnedModels {
	return OwnedModels{store: s, ModelOwner: owner}
}

func (o OwnedModels) of(db *gorm.DB) *gorm.DB {
	return db.Where("user_id = ? AND group_id = ?", o.UserID, o.GroupID)
}

// maxOwnedModels bounds how many configurations an owner has.
const maxOwnedModels = 100

// List gives the configurations, oldest first.
func (o OwnedModels) List(ctx context.Context) ([]ModelConfig, error) {
	rows := []ModelConfig{}
	if err := o.of(o.store.read.WithContext(ctx)).Order(modelOrder).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list model configurations: %w", domainError(err))
	}
	return rows, nil
}

// Get gives one of them. It fails with CodeNotFound.
func (o OwnedModels) Get(ctx context.Context, id string) (ModelConfig, error) {
	var c ModelConfig
	if err := o.read(o.store.read.WithContext(ctx), id, &c); err != nil {
		return c, fmt.Errorf("read model configuration: %w", domainError(err))
	}
	return c, nil
}

const modelOrder = "created_at, config_id"

// Create adds a configuration, whose id is chosen beforehand, and takes the default from another one when it is to be the default. It
// fails with CodeConflict when the owner has too many.
func (o OwnedModels) Create(ctx context.Context, c ModelConfig) (ModelConfig, error) {
	c.UserID, c.GroupID, c.Version = o.UserID, o.GroupID, 0
	err := o.tx(ctx, "create model configuration", func(db *gorm.DB) error {
		var n int64
		if err := o.of(db.Model(&ModelConfig{})).Count(&n).Error; err != nil {
			return err
		}
		if n >= maxOwnedModels {
			return schema.Errorf(schema.CodeConflict, "There are %d model configurations already.", n).WithHint("Delete one that isn't used.")
		}
		if err := o.makeRoom(db, c); err != nil {
			return err
		}
		c.UpdatedAt = microseconds(db.NowFunc())
		c.CreatedAt = c.UpdatedAt
		return db.Create(&c).Error
	})
	return c, err
}

// Update applies change to a configuration and counts its version up. It fails with CodeNotFound, with CodeConflict when expected is
// given and another version is there, and as change does.
func (o OwnedModels) Update(ctx context.Context, id string, expected *int, change func(*ModelConfig) error) (ModelConfig, error) {
	var c ModelConfig
	err := o.tx(ctx, "change model configuration", func(db *gorm.DB) error {
		if err := o.lock(db, id, &c); err != nil {
			return err
		}
		if expected != nil && *expected != c.Version {
			return schema.Errorf(schema.CodeConflict, "Concurrent modification detected. Expected version %d, but current version is %d. Please retry.",
				*expected, c.Version)
		}
		if err := change(&c); err != nil {
			return err
		}
		if err := o.makeRoom(db, c); err != nil {
			return err
		}
		c.Version++
		return save(db, &c)
	})
	return c, err
}

// SetDefault makes a configuration the owner's default, in place of another one. It fails with CodeNotFound.
func (o OwnedModels) SetDefault(ctx context.Context, id string) (ModelConfig, error) {
	var c ModelConfig
	err := o.tx(ctx, "choose default model configuration", func(db *gorm.DB) error {
		if err := o.lock(db, id, &c); err != nil {
			return err
		}
		c.IsDefault = true
		if err := o.makeRoom(db, c); err != nil {
			return err
		}
		return save(db, &c)
	})
	return c, err
}

// Delete removes a configuration. It fails with CodeNotFound.
func (o OwnedModels) Delete(ctx context.Context, id string) error {
	return o.tx(ctx, "delete model configuration", func(db *gorm.DB) error {
		gone := o.of(db).Where("config_id = ?", id).Delete(&ModelConfig{})
		if gone.Error == nil && gone.RowsAffected == 0 {
			return noModelConfig(id)
		}
		return gone.Error
	})
}

// tx is a transaction in which nobody else changes what the owner has.
func (o OwnedModels) tx(ctx context.Context, what string, fn func(*gorm.DB) error) error {
	return o.store.tx(ctx, what, func(db *gorm.DB) error {
		if o.store.postgres { // a lock on rows doesn't keep others from adding one; on SQLite there is one writer at a time
			if err := db.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "llm_model_configs "+o.UserID+" "+o.GroupID).Error; err != nil {
				return err
			}
		}
		return fn(db)
	})
}

// lock reads one of the owner's configurations for a change.
func (o OwnedModels) lock(db *gorm.DB, id string, into *ModelConfig) error {
	return o.read(forUpdate(db), id, into)
}

func (o OwnedModels) read(db *gorm.DB, id string, into *ModelConfig) error {
	if err := o.of(db).Where("config_id = ?", id).Limit(1).Find(into).Error; err != nil {
		return err
	}
	if into.ID == "" {
		return noModelConfig(id)
	}
	return nil
}

// makeRoom takes the default from the owner's other configurations when this one has it.
func (o OwnedModels) makeRoom(db *gorm.DB, c ModelConfig) error {
	if !c.IsDefault {
		return nil
	}
	return o.of(db.Model(&ModelConfig{})).Where("is_default AND config_id <> ?", c.ID).Update("is_default", false).Error
}

// save stores a changed configuration.
func save(db *gorm.DB, c *ModelConfig) error {
	c.UpdatedAt = microseconds(db.NowFunc())
	return db.Model(c).Select("*").UpdateColumns(c).Error
}

// microseconds is a time as every database keeps it, so that it is told and read the same.
func microseconds(t time.Time) time.Time { return t.Truncate(time.Microsecond) }

func noModelConfig(id string) error {
	return schema.Errorf(schema.CodeNotFound, "LLM model configuration '%s' not found", id)
}

// ModelConfig reads a configuration, whoever's it is. It fails with CodeNotFound.
func (s *Store) ModelConfig(ctx context.Context, id string) (ModelConfig, error) {
	var c ModelConfig
	if err := s.read.WithContext(ctx).Where("config_id = ?", id).Limit(1).Find(&c).Error; err != nil {
		return c, fmt.Errorf("read model configuration: %w", domainError(err))
	}
	if c.ID == "" {
		return c, noModelConfig(id)
	}
	return c, nil
}

// GroupsWithModels are the ids of the groups that have a configuration.
func (s *Store) GroupsWithModels(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.read.WithContext(ctx).Model(&ModelConfig{}).Where("group_id <> ''").Distinct().Pluck("group_id", &ids).Error
	if err != nil {
		return nil, fmt.Errorf("list groups with model configurations: %w", domainError(err))
	}
	return ids, nil
}
