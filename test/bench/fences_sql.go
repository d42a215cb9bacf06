package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"; test/servers has the others

	"github.com/fencelock/fencelock/fencing/sqlfence"
	"github.com/fencelock/fencelock/test/servers"
)

// sqlWrites update one row in a transaction, once behind the fence and once
// without. Protected: the fenced side's table has the triggers too.
func sqlWrites() []fencedWrite {
	var all []fencedWrite
	for _, kind := range []struct {
		name    string
		dialect sqlfence.Dialect
		atMost  float64
		serve   func() (dsn string, stop func(), err error)
	}{
		{"PostgreSQL", sqlfence.PostgreSQL, 1.3, servePostgres},
		{"MariaDB", sqlfence.MySQL, 1.3, serveMariaDB},
		{"SQLite", sqlfence.SQLite, 0, serveSQLite},
	} {
		start := func(protected bool) func(ctx context.Context) (fencePair, error) {
			return func(ctx context.Context) (fencePair, error) {
				dsn, stop, err := kind.serve()
				if err != nil {
					return fencePair{}, err
				}
				pair, err := sqlPair(ctx, kind.dialect, dsn, protected)
				if err != nil {
					stop()
					return fencePair{}, err
				}
				closeDB := pair.close
				pair.close = func() { closeDB(); stop() }
				return pair, nil
			}
		}
		all = append(all, fencedWrite{kind.name, kind.atMost, start(false)}, fencedWrite{kind.name + ", Protect", 0, start(true)})
	}
	return all
}

func servePostgres() (string, func(), error) {
	s, err := servers.RunPostgres()
	if err != nil {
		return "", nil, err
	}
	return s.DSN("postgres"), s.Remove, nil
}

func serveMariaDB() (string, func(), error) {
	s, err := servers.RunMariaDB("bench")
	if err != nil {
		return "", nil, err
	}
	return s.DSN("bench"), s.Remove, nil
}

func serveSQLite() (string, func(), error) {
	dir, err := os.MkdirTemp("", "fencelock-bench-")
	if err != nil {
		return "", nil, err
	}
	const pragmas = "?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(5000)&_pragma=recursive_triggers(1)"
	return "file:" + filepath.Join(dir, "data.db") + pragmas, func() { os.RemoveAll(dir) }, nil
}

// sqlPair prepares both tables and the fence.
func sqlPair(ctx context.Context, dialect sqlfence.Dialect, dsn string, protected bool) (fencePair, error) {
	driver := map[sqlfence.Dialect]string{sqlfence.PostgreSQL: "pgx", sqlfence.MySQL: "mysql", sqlfence.SQLite: "sqlite"}[dialect]
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return fencePair{}, err
	}
	fence, err := prepare(ctx, db, dialect, protected)
	if err != nil {
		db.Close()
		return fencePair{}, err
	}
	return fencePair{
		plain:  func() error { return inTransaction(ctx, db, add(ctx, "plain")) },
		fenced: func() error { return fence.Do(ctx, db, fenceGuard, add(ctx, "fenced")) },
		close:  func() { db.Close() },
	}, nil
}

func prepare(ctx context.Context, db *sql.DB, dialect sqlfence.Dialect, protected bool) (*sqlfence.Fence, error) {
	for _, table := range []string{"plain", "fenced"} {
		for _, statement := range []string{"CREATE TABLE " + table + " (id INT PRIMARY KEY, n INT)", "INSERT INTO " + table + " VALUES (42, 0)"} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return nil, fmt.Errorf("%s: %w", statement, err)
			}
		}
	}
	fence, err := sqlfence.New(sqlfence.Config{Dialect: dialect, Protected: protected})
	if err != nil {
		return nil, err
	}
	if err := fence.CreateTable(ctx, db); err != nil || !protected {
		return fence, err
	}
	return fence, fence.Protect(ctx, db, sqlfence.Protection{Table: "fenced", Guard: "accounts/", Column: "id"})
}

func add(ctx context.Context, table string) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE "+table+" SET n = n + 1 WHERE id = 42")
		return err
	}
}

// inTransaction does what Do does, without the fence.
func inTransaction(ctx context.Context, db *sql.DB, fn func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}
