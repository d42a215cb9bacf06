package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
)

// Fence keeps the fences of one table. It is safe for use by many goroutines and
// holds no connection.
type Fence struct {
	config Config
	sql    statements
}

// DB is a *sql.DB, a *sql.Conn, or what wraps one.
type DB interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// New does not touch the database; see [Fence.CreateTable].
func New(cfg Config) (*Fence, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("sqlfence: %w", err)
	}
	return &Fence{config: cfg, sql: statementsOf(cfg.Dialect, cfg.Table)}, nil
}

// Statements returns the SQL of this fence, its table filled in.
func (f *Fence) Statements() Statements { return f.sql.Statements }

// CreateTable makes the table if it is not there; any number of processes may do
// so at once. The rows in it are the fences: they are never removed, because a
// guard whose row is gone admits any token. A guard is at most 255 bytes.
//
// A table that is there and cannot keep fences is [errors.ErrUnsupported]: one that
// loses digits of tokens, or whose engine does not roll back.
func (f *Fence) CreateTable(ctx context.Context, db DB) error {
	err := f.inTurn(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, f.sql.Schema); err != nil {
			return err
		}
		return f.mustKeep(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("create table %s: %w", f.config.Table, err)
	}
	return nil
}

// inTurn runs a change of the schema in a transaction, one at a time.
func (f *Fence) inTurn(ctx context.Context, db DB, change func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	if f.sql.turn != "" {
		if _, err := tx.ExecContext(ctx, f.sql.turn); err != nil {
			return err
		}
	}
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Highest returns the highest token that the guard's fence has admitted, 0 if
// none. The answer can be outdated when it arrives.
func (f *Fence) Highest(ctx context.Context, db DB, guard string) (fencing.Token, error) {
	return highest(ctx, db, f.sql.glance, guard)
}

// Repair lowers a fence that a token never issued has raised, because no Verify
// was set: from wrong to right, the token of the lock's present holder. It does
// so only if the fence still stands at wrong; else it is an error, and the fence
// stays. A fence that was raised in good order must not be lowered: older holders
// would be admitted again.
func (f *Fence) Repair(ctx context.Context, db DB, guard string, wrong, right fencing.Token) error {
	if !right.Valid() || right >= wrong {
		return fmt.Errorf("repair the fence of %q: %w: a token between 0 and %v is wanted, not %v", guard, fencing.ErrMalformed, wrong, right)
	}
	return f.inTurn(ctx, db, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, f.sql.repair, int64(right), guard, int64(wrong))
		if err != nil {
			return fmt.Errorf("repair the fence of %q: %w", guard, err)
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("repair the fence of %q: it does not stand at %v (%w)", guard, wrong, errors.Join(err, sql.ErrNoRows))
		}
		return nil
	})
}

// queryer is a database, or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// highest reads a fence; 0 if there is none.
func highest(ctx context.Context, db queryer, query, guard string) (fencing.Token, error) {
	var token int64
	err := db.QueryRowContext(ctx, query, guard).Scan(&token)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read the fence of %q: %w", guard, err)
	}
	return fencing.Token(token), nil
}
