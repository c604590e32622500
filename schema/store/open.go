package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"github.com/gofrs/flock"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	// write has a single connection on SQLite, where a second writer would only wait or fail; read is a pool.
	write, read *gorm.DB
	postgres    bool
	now         func() time.Time
}

// Options says which database to open.
type Options struct {
	// URL is postgres://… or the path of a SQLite file.
	URL string
}

// Each transaction on SQLite takes the write lock at its begin: one that reads first and writes later can't be given it while
// another writes, and fails at once however long the timeout.
const sqlitePragmas = "?_txlock=immediate&_busy_timeout=5000&_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on"

const readers = 4

// Open connects and leaves the schema as it is; see Migrate. It fails with CodeUnavailable.
func Open(o Options) (*Store, error) {
	s := &Store{now: time.Now, postgres: isPostgres(o.URL)}
	config := func() *gorm.Config {
		return &gorm.Config{
			SkipDefaultTransaction: true,
			NowFunc:                func() time.Time { return s.now().UTC() },
			// Queries hold people's texts, so none is logged; whoever gets an error logs it.
			Logger: logger.Discard,
		}
	}
	dialector := func(query string) gorm.Dialector {
		if s.postgres {
			return postgres.Open(o.URL)
		}
		return sqlite.Open("file:" + escapePath(o.URL) + sqlitePragmas + query)
	}
	var err error
	if s.postgres {
		if s.write, err = gorm.Open(dialector(""), config()); err != nil {
			return nil, unavailable(err)
		}
		s.read = s.write
		return s, nil
	}
	// The first connection of all turns a new file's journal to WAL, for which SQLite doesn't wait: processes that start together take
	// turns.
	lock := flock.New(o.URL + ".opening")
	if err := lock.Lock(); err != nil {
		return nil, unavailable(err)
	}
	s.write, err = gorm.Open(dialector(""), config())
	if err := errors.Join(err, lock.Unlock()); err != nil {
		return nil, unavailable(err)
	}
	if err := bound(s.write, 1); err != nil {
		return nil, unavailable(err)
	}
	if s.read, err = gorm.Open(dialector("&_query_only=on"), config()); err != nil {
		return nil, errors.Join(unavailable(err), closeDB(s.write))
	}
	if err := bound(s.read, readers); err != nil {
		return nil, unavailable(err)
	}
	return s, nil
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// escapePath keeps a file name's own ? and % from being read as part of the connection string.
func escapePath(p string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(p)
}

func bound(db *gorm.DB, conns int) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return nil
}

// Close ends all connections.
func (s *Store) Close() error {
	if s.read == s.write {
		return closeDB(s.write)
	}
	return errors.Join(closeDB(s.read), closeDB(s.write))
}

func closeDB(db *gorm.DB) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	return pool.Close()
}

// Ping checks that the database answers and that its schema is there. It fails with CodeUnavailable.
func (s *Store) Ping(ctx context.Context) error {
	var n int64
	return unavailable(s.read.WithContext(ctx).Model(&Turn{}).Limit(1).Count(&n).Error)
}

// Pools gives the state of the connection pools: one for all, or on SQLite one that writes and one that reads.
func (s *Store) Pools() map[string]sql.DBStats {
	pools := map[string]sql.DBStats{}
	for name, db := range map[string]*gorm.DB{"write": s.write, "read": s.read} {
		if pool, err := db.DB(); err == nil {
			pools[name] = pool.Stats()
		}
	}
	if s.read == s.write {
		return map[string]sql.DBStats{"all": pools["write"]}
	}
	return pools
}

// tx runs fn in one write transaction. No network call belongs inside.
func (s *Store) tx(ctx context.Context, what string, fn func(*gorm.DB) error) (err error) {
	ctx, span := observe.Start(ctx, "database: "+what)
	defer func() { observe.End(span, err) }()
	if err := s.write.WithContext(ctx).Transaction(fn); err != nil {
		return fmt.Errorf("%s: %w", what, domainError(err))
	}
	return nil
}

// notText is PostgreSQL's word for a text with NUL in it, or one that isn't UTF-8. Another try won't help.
const notText = "22021"

// stateError is an error of PostgreSQL's.
type stateError interface {
	error
	SQLState() string
}

// domainError leaves domain errors and cancellations as they are; whatever else a database says means that it can't be used now.
func domainError(err error) error {
	if _, ok := errors.AsType[*schema.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return schema.Errorf(schema.CodeNotFound, "Not found").WithCause(err)
	}
	if e, ok := errors.AsType[stateError](err); ok && e.SQLState() == notText {
		return schema.Errorf(schema.CodeInvalid, "A text holds NUL, or is not UTF-8.").WithHint("Leave out the character that can't be seen.").WithCause(err)
	}
	return unavailable(err)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return schema.Errorf(schema.CodeUnavailable, "The database can't be used at the moment.").
		WithHint("Try again; if it stays, look at the server's log and its disk.").WithCause(err)
}
