package sqlfence_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/sqlfence"
	"github.com/fencelock/fencelock/test/servers"
)

// A write in a transaction, beside the same behind the fence, in turn, on a server
// that is as durable as in production. The ratio is of the medians.
//
//	go test -run '^$' -bench . -benchtime 2000x ./fencing/sqlfence
func BenchmarkFencedWrite(b *testing.B) {
	for name, c := range map[string]struct {
		dialect   sqlfence.Dialect
		protected bool
		dsn       func() string
	}{
		"PostgreSQL":            {sqlfence.PostgreSQL, false, func() string { return servers.StartPostgres(b).DSN("postgres") }},
		"PostgreSQL, protected": {sqlfence.PostgreSQL, true, func() string { return servers.StartPostgres(b).DSN("postgres") }},
		"MariaDB":               {sqlfence.MySQL, false, func() string { return startMariaDB(b) }},
		"MariaDB, protected":    {sqlfence.MySQL, true, func() string { return startMariaDB(b) }},
		"SQLite": {sqlfence.SQLite, false, func() string {
			return filepath.Join(b.TempDir(), "data.db") + "?_pragma=journal_mode(wal)&_pragma=synchronous(full)"
		}},
	} {
		b.Run(name, func(b *testing.B) {
			db := connect(b, c.dialect, c.dsn())
			for _, table := range []string{"plain", "fenced"} {
				db.exec(b, "CREATE TABLE "+table+" (id INT PRIMARY KEY, n INT)", "INSERT INTO "+table+" VALUES (42, 0)")
			}
			f := db.fence(b, sqlfence.Config{Protected: c.protected})
			if c.protected {
				if err := f.Protect(b.Context(), db, sqlfence.Protection{Table: "fenced", Guard: "accounts/", Column: "id"}); err != nil {
					b.Fatal(err)
				}
			}
			ctx := fencing.NewContext(b.Context(), fencing.Sequencer{Lock: guard, Token: 33})
			fencingtest.Pairs(b,
				func() error { return unfenced(ctx, db, add(ctx, "plain")) },
				func() error { return f.Do(ctx, db, guard, add(ctx, "fenced")) })
		})
	}
}

func add(ctx context.Context, table string) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE "+table+" SET n = n + 1 WHERE id = 42")
		return err
	}
}

func unfenced(ctx context.Context, db *database, fn func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func startMariaDB(b *testing.B) string {
	s := servers.StartMariaDB(b)
	connect(b, sqlfence.MySQL, s.DSN("")).exec(b, "CREATE DATABASE bench")
	return s.DSN("bench")
}
