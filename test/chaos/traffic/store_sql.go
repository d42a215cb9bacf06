package traffic

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

const (
	table       = "traffic"
	guardPrefix = "sql/" // of every guard; the rest is in the column "place"

	schema = `CREATE TABLE IF NOT EXISTS ` + table + ` (place text, key text, value text NOT NULL, PRIMARY KEY (place, key))`
	put    = `INSERT INTO ` + table + ` (place, key, value) VALUES ($1, $2, $3) ON CONFLICT (place, key) DO UPDATE SET value = excluded.value`
	remove = `DELETE FROM ` + table + ` WHERE place = $1 AND key = $2`
	get    = `SELECT value FROM ` + table + ` WHERE place = $1 AND key = $2`
	list   = `SELECT key, value FROM ` + table + ` WHERE place = $1 AND starts_with(key, $2)`

	// schemaTurn is the number of an advisory lock: several processes that make a table
	// at the same moment disturb each other.
	schemaTurn = 7_417_001

	// stoppedHolder is after how many milliseconds PostgreSQL rolls back the transaction
	// of a client that says nothing: one that is stopped would keep the guard's row, and
	// everybody out, for as long.
	stoppedHolder = "3000"

	// maxConns is more than a process needs: one for each guard.
	maxConns = 8
)

// sqlTarget is one database.
type sqlTarget struct {
	db    *sql.DB
	fence *sqlfence.Fence
	// unready is empty once the tables are known to be there. Who makes them holds
	// what is in it.
	unready chan struct{}
}

// openSQL sends nothing: the database may be down.
func openSQL(dsn string) (*sqlTarget, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = stoppedHolder
	fence, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.PostgreSQL})
	if err != nil {
		return nil, err
	}
	t := &sqlTarget{db: stdlib.OpenDB(*cfg), fence: fence, unready: make(chan struct{}, 1)}
	t.db.SetMaxOpenConns(maxConns)
	t.db.SetMaxIdleConns(maxConns)
	t.unready <- struct{}{}
	return t, nil
}

func (t *sqlTarget) open(seq fencing.Sequencer) (store, error) {
	place, ok := strings.CutPrefix(seq.Lock, guardPrefix)
	if !ok {
		return nil, fmt.Errorf("%s is no lock of %s…", seq.Lock, guardPrefix)
	}
	return sqlStore{t, seq.Lock, place}, nil
}

func (t *sqlTarget) close() error { return t.db.Close() }

// ready makes the tables, once.
func (t *sqlTarget) ready(ctx context.Context) error {
	select {
	case _, first := <-t.unready:
		if !first {
			return nil
		}
	case <-ctx.Done():
		return fmt.Errorf("wait for the tables: %w", ctx.Err())
	}
	if err := t.makeTables(ctx); err != nil {
		t.unready <- struct{}{}
		return fmt.Errorf("make the tables: %w", err)
	}
	close(t.unready)
	return nil
}

func (t *sqlTarget) makeTables(ctx context.Context) error {
	if err := t.fence.CreateTable(ctx, t.db); err != nil {
		return err
	}
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", schemaTurn); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return t.fence.Protect(ctx, t.db, sqlfence.Protection{Table: table, Guard: guardPrefix, Column: "place"})
}

// sqlStore runs one transaction for each operation, whose first step is the fence.
type sqlStore struct {
	*sqlTarget
	lock, place string
}

func (s sqlStore) do(ctx context.Context, fn func(tx *sql.Tx) error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	return s.fence.Do(ctx, s.db, s.lock, fn)
}

func (s sqlStore) Get(ctx context.Context, key string) (value string, found bool, err error) {
	err = s.do(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, get, s.place, key).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		found = err == nil
		return err
	})
	return value, found, err
}

func (s sqlStore) List(ctx context.Context, prefix string) (map[string]string, error) {
	found := map[string]string{}
	err := s.do(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, list, s.place, prefix)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key, value string
			if err := rows.Scan(&key, &value); err != nil {
				return err
			}
			found[key] = value
		}
		return rows.Err()
	})
	return found, err
}

func (s sqlStore) Put(ctx context.Context, key, value string) error {
	return s.Apply(ctx, map[string]string{key: value})
}

func (s sqlStore) Delete(ctx context.Context, key string) error {
	return s.do(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, remove, s.place, key)
		return err
	})
}

func (s sqlStore) Apply(ctx context.Context, values map[string]string) error {
	return s.do(ctx, func(tx *sql.Tx) error {
		for key, value := range values {
			if _, err := tx.ExecContext(ctx, put, s.place, key, value); err != nil {
				return err
			}
		}
		return nil
	})
}
