package sqlfence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// insert adds a record of guard.
func insert(db *database, name string) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(db.sql("INSERT INTO records VALUES (?, ?, 'x')"), guard, name)
		return err
	}
}

func (db *database) count(t testing.TB) string {
	t.Helper()
	return db.value(t, "SELECT COUNT(*) FROM records")
}

func TestWhatFnReturnsRollsBack(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		want := errors.New("no")
		err := f.Do(as(t, 33), db, guard, func(tx *sql.Tx) error {
			return errors.Join(insert(db, "a")(tx), want)
		})
		if !errors.Is(err, want) {
			t.Errorf("got %v, want what fn returned", err)
		}
		if got := db.count(t); got != "0" {
			t.Errorf("%s records, want none", got)
		}
		if got, err := f.Highest(t.Context(), db, guard); err != nil || got != 0 {
			t.Errorf("the fence stands at %v, %v, want it where it was", got, err)
		}
	})
}

func TestPanicOfFnRollsBackAndFreesTheConnection(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		db.SetMaxOpenConns(1)
		func() {
			defer func() { _ = recover() }()
			_ = f.Do(as(t, 33), db, guard, func(tx *sql.Tx) error { _ = insert(db, "a")(tx); panic("no") })
		}()
		if got := db.count(t); got != "0" {
			t.Errorf("%s records, want none", got)
		}
	})
}

// A lock that is lost while fn runs ends the context with a cause.
func TestLossDuringFnRollsBack(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		lost := errors.New("lock lost")
		ctx, cancel := context.WithCancelCause(as(t, 33))
		err := f.Do(ctx, db, guard, func(tx *sql.Tx) error {
			err := insert(db, "a")(tx)
			cancel(lost)
			return err
		})
		if !errors.Is(err, lost) || !errors.Is(err, context.Canceled) || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("got %v, want the cause and context.Canceled, and no doubt", err)
		}
		if got := db.count(t); got != "0" {
			t.Errorf("%s records, want none", got)
		}
	})
}

// An overtaken holder that ignores the refusal can do nothing more in its
// transaction.
func TestRefusedAdvanceEndsTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		if err := f.Do(as(t, 34), db, guard, insert(db, "b")); err != nil {
			t.Fatal(err)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Advance(t.Context(), tx, guard, fencing.Sequencer{Lock: guard, Token: 33})
		var got *fencing.StaleError
		if want := (fencing.StaleError{Guard: guard, Token: 33, Highest: 34}); !errors.As(err, &got) || *got != want {
			t.Errorf("got %v, want %v", err, &want)
		}
		if err := insert(db, "a")(tx); !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("writing after the refusal: got %v, want ErrTxDone", err)
		}
	})
}

func TestSeveralGuards(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		both := func(a, b fencing.Token) error {
			ctx := fencing.NewContext(as(t, a), fencing.Sequencer{Lock: otherGuard, Token: b})
			return f.DoAll(ctx, db, []string{otherGuard, guard, otherGuard}, func(*sql.Tx) error { return nil })
		}
		if err := both(33, 50); err != nil {
			t.Fatal(err)
		}
		var stale *fencing.StaleError
		if err := both(34, 49); !errors.As(err, &stale) || stale.Guard != otherGuard {
			t.Errorf("got %v, want it stale behind %s", err, otherGuard)
		}
		if got, err := f.Highest(t.Context(), db, guard); err != nil || got != 33 {
			t.Errorf("the other fence stands at %v, %v, want 33: the transaction was refused", got, err)
		}
		if err := f.DoAll(as(t, 33), db, nil, func(*sql.Tx) error { return nil }); !errors.Is(err, fencing.ErrMissing) {
			t.Errorf("no guard: got %v, want ErrMissing", err)
		}
	})
}

// Names that text columns of some databases take for the same, or for nothing.
func TestNamesAreComparedAsBytes(t *testing.T) {
	names := []string{"a", "A", "á", "a\u0301", "a ", " a", "a/b", "a%", "a_", "ß", "ss", "🔒", "\u200b", "İ", "i", "ı", "'", `"`, "`", `\`, "NULL", "0", "00", "?", "a?b", "$1"}
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		for i, name := range names {
			ctx := fencing.NewContext(t.Context(), fencing.Sequencer{Lock: name, Token: fencing.Token(i + 1)})
			if err := f.Do(ctx, db, name, func(*sql.Tx) error { return nil }); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		for i, name := range names {
			if got, err := f.Highest(t.Context(), db, name); err != nil || got != fencing.Token(i+1) {
				t.Errorf("the fence of %q stands at %v, %v, want %d", name, got, err, i+1)
			}
		}
	})
}

func TestBadGuardIsFoundWithoutTheDatabase(t *testing.T) {
	f, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.SQLite})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "a//b", "a\x00b", "a#b"} {
		ctx := fencing.NewContext(t.Context(), fencing.Sequencer{Lock: name, Token: 1})
		if err := f.Do(ctx, nil, name, nil); err == nil || name != "" && !errors.Is(err, fencing.ErrInvalidName) {
			t.Errorf("%q: got %v, want ErrInvalidName", name, err)
		}
	}
}

// Without Verify a wrong number locks everybody out; this is the way back.
func TestRepair(t *testing.T) {
	const wrong = 1<<63 - 1
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		nothing := func(*sql.Tx) error { return nil }
		if err := f.Do(as(t, wrong), db, guard, nothing); err != nil {
			t.Fatal(err)
		}
		if err := f.Do(as(t, 34), db, guard, nothing); !errors.Is(err, fencing.ErrStale) {
			t.Fatalf("got %v, want ErrStale", err)
		}
		if err := f.Repair(t.Context(), db, guard, wrong-1, 34); err == nil {
			t.Error("repaired a fence that stands elsewhere")
		}
		for _, right := range []fencing.Token{0, -1, wrong} {
			if err := f.Repair(t.Context(), db, guard, wrong, right); !errors.Is(err, fencing.ErrMalformed) {
				t.Errorf("to %v: got %v, want ErrMalformed", right, err)
			}
		}
		if err := f.Repair(t.Context(), db, guard, wrong, 34); err != nil {
			t.Fatal(err)
		}
		if err := f.Do(as(t, 33), db, guard, nothing); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("token 33: got %v, want ErrStale", err)
		}
		if err := f.Do(as(t, 34), db, guard, nothing); err != nil {
			t.Errorf("token 34: %v", err)
		}
	})
}

// Replicas of a service start at the same moment.
func TestCreateTableAtOnce(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		const replicas = 8
		db.SetMaxIdleConns(replicas) // so that later rounds need not connect
		for round := range 10 {
			f, err := sqlfence.New(sqlfence.Config{Dialect: db.dialect, Table: fmt.Sprintf("fence_%d", round)})
			if err != nil {
				t.Fatal(err)
			}
			errs := make(chan error, replicas)
			for range replicas {
				go func() { errs <- f.CreateTable(t.Context(), db) }()
			}
			for range replicas {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// No driver is asked whether an error is worth another try: whatever comes before
// fn has run is tried again, and then told.
func TestMissingTableIsTold(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f, err := sqlfence.New(sqlfence.Config{Dialect: db.dialect, Table: "nowhere"})
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		err = f.Do(as(t, 33), db, guard, func(*sql.Tx) error { runs++; return nil })
		if err == nil || runs != 0 || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("got %v after %d runs, want the database's error and none", err, runs)
		}
	})
}

// In a serializable database the new holder meets the old one's commit: that
// costs another attempt, not an error.
func TestSerializableHolderNeedsNoRetryOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{Isolation: sql.LevelSerializable})
		if err := f.Do(as(t, 33), db, guard, insert(db, "first")); err != nil {
			t.Fatal(err)
		}
		newer := make(chan error, 1)
		err := f.Do(as(t, 33), db, guard, func(tx *sql.Tx) error {
			go func() {
				newer <- f.Do(as(t, 34), db, guard, func(tx *sql.Tx) error {
					var names string
					if err := tx.QueryRow("SELECT COUNT(*) FROM records").Scan(&names); err != nil || names != "2" {
						return fmt.Errorf("the newer holder sees %s records, %w, want 2", names, err)
					}
					return insert(db, "third")(tx)
				})
			}()
			db.awaitWaiter(t)
			return insert(db, "second")(tx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-newer; err != nil {
			t.Error(err)
		}
	})
}

func TestNewRefusesBadConfig(t *testing.T) {
	for name, cfg := range map[string]sqlfence.Config{
		"no dialect":      {},
		"another dialect": {Dialect: "oracle"},
		"quotes":          {Dialect: sqlfence.PostgreSQL, Table: `a"b`},
		"backquotes":      {Dialect: sqlfence.MySQL, Table: "a`b"},
		"an empty part":   {Dialect: sqlfence.SQLite, Table: "a."},
		"three parts":     {Dialect: sqlfence.PostgreSQL, Table: "a.b.c"},
		"a long name":     {Dialect: sqlfence.PostgreSQL, Table: fmt.Sprint(slices.Repeat([]int{1}, 40))},
		"NUL":             {Dialect: sqlfence.PostgreSQL, Table: "a\x00"},
		"a placeholder":   {Dialect: sqlfence.MySQL, Table: "a?"},
		"isolation":       {Dialect: sqlfence.PostgreSQL, Isolation: 99},
	} {
		if f, err := sqlfence.New(cfg); err == nil {
			t.Errorf("%s: got %v, want an error", name, f)
		}
	}
}
