package sqlfence_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

func TestConformance(t *testing.T) {
	for _, dialect := range []sqlfence.Dialect{sqlfence.PostgreSQL, sqlfence.MySQL, sqlfence.SQLite} {
		for name, run := range map[string]runner{"Do": viaDo, "Advance": viaAdvance} {
			t.Run(string(dialect)+" "+name, func(t *testing.T) { fencingtest.Run(t, harness(dialect, run)) })
		}
	}
}

func TestConformanceOfOtherSettings(t *testing.T) {
	for name, c := range map[string]struct {
		dialect sqlfence.Dialect
		run     runner
		cfg     sqlfence.Config
	}{
		"protected MySQL":       {sqlfence.MySQL, viaDo, sqlfence.Config{Protected: true}},
		"protected SQLite":      {sqlfence.SQLite, viaDo, sqlfence.Config{Protected: true, Table: "main.fences of mine"}},
		"read committed MySQL":  {sqlfence.MySQL, viaDo, sqlfence.Config{Isolation: sql.LevelReadCommitted}},
		"a schema, odd letters": {sqlfence.PostgreSQL, viaDo, sqlfence.Config{Table: "public.Fence-Ünïcode 50%s"}},
	} {
		t.Run(name, func(t *testing.T) { fencingtest.Run(t, configured(c.dialect, c.run, c.cfg)) })
	}
}

func harness(dialect sqlfence.Dialect, run runner) fencingtest.Harness {
	return configured(dialect, run, sqlfence.Config{})
}

func configured(dialect sqlfence.Dialect, run runner, cfg sqlfence.Config) fencingtest.Harness {
	return fencingtest.Harness{
		Open: func(t testing.TB, verify fencingtest.Verify) fencingtest.Resource {
			cfg := cfg
			cfg.Verify = verify
			db := open(t, dialect)
			return &table{db, db.fence(t, cfg), run}
		},
		Reopen: func(t testing.TB, r fencingtest.Resource) fencingtest.Resource {
			old := r.(*table)
			old.db.Close()
			return &table{connect(t, dialect, old.db.dsn), old.fence, run}
		},
		Without: map[fencingtest.Capability]string{fencingtest.Texts: "a transaction is not handed text"},
	}
}

// runner is one of the ways to a fenced transaction.
type runner func(ctx context.Context, r *table, op fencingtest.Op, fn func(tx *sql.Tx) error) error

func viaDo(ctx context.Context, r *table, op fencingtest.Op, fn func(tx *sql.Tx) error) error {
	if op.Sequencer != (fencing.Sequencer{}) {
		ctx = fencing.NewContext(ctx, op.Sequencer)
	}
	return r.fence.Do(ctx, r.db, op.Guard, fn)
}

func viaAdvance(ctx context.Context, r *table, op fencingtest.Op, fn func(tx *sql.Tx) error) error {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := r.fence.Advance(ctx, tx, op.Guard, op.Sequencer); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// table is the table of records as the suite sees it.
type table struct {
	db    *database
	fence *sqlfence.Fence
	run   runner
}

func (r *table) Do(ctx context.Context, op fencingtest.Op) (value string, err error) {
	err = r.run(ctx, r, op, func(tx *sql.Tx) error {
		switch op.Kind {
		case fencingtest.Read:
			err := tx.QueryRowContext(ctx, r.db.sql("SELECT value FROM records WHERE guard = ? AND name = ?"), op.Guard, op.Key).Scan(&value)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			return err
		case fencingtest.Write:
			return put(ctx, tx, r.db, op.Guard, op.Key, op.Value)
		case fencingtest.Delete:
			_, err := tx.ExecContext(ctx, r.db.sql("DELETE FROM records WHERE guard = ? AND name = ?"), op.Guard, op.Key)
			return err
		}
		return nil
	})
	return value, err
}

func put(ctx context.Context, tx *sql.Tx, db *database, guard, key, value string) error {
	if _, err := tx.ExecContext(ctx, db.sql("DELETE FROM records WHERE guard = ? AND name = ?"), guard, key); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, db.sql("INSERT INTO records VALUES (?, ?, ?)"), guard, key, value)
	return err
}

// SQLite does its work inside the user's process, which is killed here.
func TestCrash(t *testing.T) {
	fencingtest.Crash(t, fencingtest.CrashHarness{
		Open: func(t testing.TB, dir string, step func(name string)) fencingtest.Resource {
			db := connect(t, sqlfence.SQLite, sqliteFile(dir))
			db.exec(t, "CREATE TABLE IF NOT EXISTS records (guard TEXT, name TEXT, value TEXT, PRIMARY KEY (guard, name))")
			return &table{db, db.fence(t, sqlfence.Config{}), stepping(step)}
		},
	})
}

func stepping(step func(name string)) runner {
	return func(ctx context.Context, r *table, op fencingtest.Op, fn func(tx *sql.Tx) error) error {
		step("begin")
		defer step("after the commit")
		return viaDo(ctx, r, op, func(tx *sql.Tx) error {
			step("the work")
			defer step("commit")
			return fn(tx)
		})
	}
}
