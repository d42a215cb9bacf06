package sqlfence_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// bank is a protected table of accounts: row 42 is guarded by "accounts/42".
type bank struct {
	*testing.T
	*database
	fence *sqlfence.Fence
}

func accounts() sqlfence.Protection {
	return sqlfence.Protection{Table: "accounts", Guard: "accounts/", Column: "id"}
}

func newBank(t *testing.T, dialect sqlfence.Dialect) *bank {
	t.Helper()
	db := open(t, dialect)
	b := &bank{t, db, db.fence(t, sqlfence.Config{Protected: true})}
	db.exec(t, "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT)",
		"INSERT INTO accounts VALUES (42, 100), (43, 100)")
	if err := b.fence.Protect(t.Context(), db, accounts()); err != nil {
		t.Fatal(err)
	}
	return b
}

func eachBank(t *testing.T, test func(b *bank)) {
	for _, dialect := range []sqlfence.Dialect{sqlfence.PostgreSQL, sqlfence.MySQL, sqlfence.SQLite} {
		t.Run(string(dialect), func(t *testing.T) { test(newBank(t, dialect)) })
	}
}

// do runs statements in one transaction behind the fence of guard.
func (b *bank) do(token fencing.Token, statements ...string) error {
	return b.fence.Do(as(b, token), b, guard, inside(statements...))
}

func inside(statements ...string) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	}
}

// plain runs statements in one transaction that has passed no fence.
func (b *bank) plain(statements ...string) error {
	tx, err := b.BeginTx(b.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := inside(statements...)(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (b *bank) admitted(err error) {
	b.Helper()
	if err != nil {
		b.Errorf("got %v, want it admitted", err)
	}
}

// refused wants the trigger to have refused, and nothing to have changed.
func (b *bank) refused(what string, err error) {
	b.Helper()
	if err == nil || !strings.Contains(err.Error(), "fencelock: ") {
		b.Errorf("%s: got %v, want it refused", what, err)
	}
	if got, want := b.sum(), "200 of 2"; got != want {
		b.Fatalf("%s: the accounts hold %s, want %s", what, got, want)
	}
}

func (b *bank) sum() string {
	return b.value(b, "SELECT SUM(balance)") + " of " + b.value(b, "SELECT COUNT(*)")
}

func (b *bank) value(t testing.TB, what string) string {
	return b.database.value(t, what+" FROM accounts")
}

const debit = "UPDATE accounts SET balance = balance - 10 WHERE id = 42"

func TestProtectAdmitsWhatPassedTheFence(t *testing.T) {
	eachBank(t, func(b *bank) {
		b.admitted(b.do(33, debit, "DELETE FROM accounts WHERE id = 42", "INSERT INTO accounts VALUES (42, 90)"))
		b.admitted(b.do(33, "INSERT INTO accounts SELECT 42, 1 WHERE 1 = 0", "UPDATE accounts SET balance = 0 WHERE id = 99"))
		if got, want := b.sum(), "190 of 2"; got != want {
			t.Errorf("the accounts hold %s, want %s", got, want)
		}
	})
}

func TestProtectRefusesWhatPassedNone(t *testing.T) {
	eachBank(t, func(b *bank) {
		for _, statement := range []string{debit, "UPDATE accounts SET balance = balance", "DELETE FROM accounts",
			"DELETE FROM accounts WHERE id = 42", "INSERT INTO accounts VALUES (44, 1)"} {
			b.refused(statement, b.plain(statement))
			if _, err := b.Exec(statement); err == nil {
				b.Errorf("%s outside of a transaction: admitted", statement)
			}
		}
	})
}

func TestProtectRefusesRowsOfOtherGuards(t *testing.T) {
	eachBank(t, func(b *bank) {
		for _, statement := range []string{
			"UPDATE accounts SET balance = 0 WHERE id = 43",
			"DELETE FROM accounts WHERE id = 43",
			"INSERT INTO accounts VALUES (44, 1)",
			"UPDATE accounts SET balance = 0",
			"UPDATE accounts SET id = 44 WHERE id = 42", // its new guard was not passed
		} {
			b.refused(statement, b.do(33, debit, statement))
		}
		ctx := fencing.NewContext(as(b, 33), fencing.Sequencer{Lock: "accounts/44", Token: 1})
		b.refused("a new guard, whose old one was not passed", b.fence.Do(ctx, b, "accounts/44", inside("UPDATE accounts SET id = 44 WHERE id = 42")))
		b.admitted(b.fence.DoAll(ctx, b, []string{guard, "accounts/44"}, inside("UPDATE accounts SET id = 44 WHERE id = 42")))
	})
}

// An overtaken holder, even one that sends the published statement and does not
// look at the answer.
func TestProtectRefusesAStaleToken(t *testing.T) {
	eachBank(t, func(b *bank) {
		b.admitted(b.do(34))
		b.refused("Do", errors.Join(b.do(33, debit), errors.New("fencelock: ")))
		tx, err := b.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.Exec(b.fence.Statements().Advance, guard, 33); err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec(debit)
		_ = tx.Rollback()
		b.refused("not looking at the answer", err)
	})
}

// A pool gives the same connection to somebody who has passed no fence.
func TestProtectRefusesTheNextTransactionOfAConnection(t *testing.T) {
	eachBank(t, func(b *bank) {
		b.SetMaxOpenConns(1)
		b.admitted(b.do(33, "UPDATE accounts SET balance = 100"+" WHERE id = 42"))
		b.refused("after a commit", b.plain(debit))
		_ = b.do(33, debit, "no statement")
		b.refused("after a rollback", b.plain(debit))
		b.refused("after a refused statement", b.plain(debit))
	})
}

// Somebody else's transaction does not count, even while it runs and can be seen.
// SQLite has one writer at a time.
func TestProtectRefusesWhileAnotherHasPassed(t *testing.T) {
	eachBank(t, func(b *bank) {
		if b.dialect == sqlfence.SQLite {
			return
		}
		b.admitted(b.fence.Do(as(b, 33), b, guard, func(*sql.Tx) error {
			tx, err := b.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadUncommitted})
			if err != nil {
				return err
			}
			err = inside(debit)(tx)
			_ = tx.Rollback()
			b.refused("beside the holder", err)
			return nil
		}))
	})
}

func TestProtectAndSavepoints(t *testing.T) {
	eachBank(t, func(b *bank) {
		b.admitted(b.do(33, "SAVEPOINT a", debit, "ROLLBACK TO SAVEPOINT a", "SAVEPOINT b", debit, "RELEASE SAVEPOINT b"))
		if got, want := b.sum(), "190 of 2"; got != want {
			t.Errorf("the accounts hold %s, want %s", got, want)
		}
	})
}

func TestProtectRefusesTruncate(t *testing.T) {
	eachBank(t, func(b *bank) {
		switch b.dialect {
		case sqlfence.SQLite:
			return // has none; TestProtectRefusesWhatPassedNone deletes all rows
		case sqlfence.MySQL:
			if err := b.plain("TRUNCATE accounts"); err != nil {
				b.Errorf("got %v: the package comment says that MySQL cannot refuse it", err)
			}
			return
		}
		b.refused("without a fence", b.plain("TRUNCATE accounts"))
		b.refused("with one", b.do(33, "TRUNCATE accounts"))
	})
}

func TestUnprotect(t *testing.T) {
	eachBank(t, func(b *bank) {
		for range 2 {
			b.admitted(b.fence.Protect(t.Context(), b, accounts()))
			b.refused("protected twice", b.plain(debit))
		}
		changed := accounts()
		changed.Guard, changed.Column = otherGuard, ""
		b.admitted(b.fence.Protect(t.Context(), b, changed))
		b.refused("one lock for the whole table now, and another is held", b.do(33, debit))
		for range 2 {
			b.admitted(b.fence.Unprotect(t.Context(), b, "accounts"))
			b.admitted(b.plain(debit))
		}
		if b.dialect == sqlfence.PostgreSQL {
			if left := b.database.value(t, "SELECT COUNT(*) FROM pg_proc WHERE proname LIKE 'fencelock%'"); left != "0" {
				t.Errorf("%s functions are left", left)
			}
		}
	})
}

// Replicas of a service start at the same moment.
func TestProtectAtOnce(t *testing.T) {
	eachBank(t, func(b *bank) {
		for _, p := range []sqlfence.Protection{{Table: "accounts", Guard: guard}, accounts()} {
			errs := make(chan error, 8)
			for range cap(errs) {
				go func() { errs <- b.fence.Protect(context.Background(), b, p) }()
			}
			for range cap(errs) {
				b.admitted(<-errs)
			}
			b.refused("protected at once", b.plain(debit))
		}
		b.admitted(b.do(33, debit))
	})
}

func TestRowsWithoutAGuardCannotBeWritten(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{Protected: true})
		db.exec(t, "CREATE TABLE notes (account VARCHAR(255), body VARCHAR(255))")
		if err := f.Protect(t.Context(), db, sqlfence.Protection{Table: "notes", Column: "account"}); err != nil {
			t.Fatal(err)
		}
		for account, good := range map[string]bool{"'" + guard + "'": true, "NULL": false, "''": false, "'ACCOUNTS/42'": false, "'accounts/42 '": false} {
			err := f.Do(as(t, 33), db, guard, inside("INSERT INTO notes VALUES ("+account+", 'x')"))
			if (err == nil) != good {
				t.Errorf("account %s: got %v, want it admitted: %v", account, err, good)
			}
		}
	})
}

func TestProtectRefusesBadInput(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		db.exec(t, "CREATE TABLE accounts (id INT PRIMARY KEY)")
		for name, p := range map[string]sqlfence.Protection{
			"nothing":         {},
			"no such table":   {Table: "nowhere", Guard: "a"},
			"no such column":  {Table: "accounts", Column: "nothing"},
			"no guard":        {Table: "accounts"},
			"a bad name":      {Table: "accounts", Guard: "a//b"},
			"a bad beginning": {Table: "accounts", Guard: "/", Column: "id"},
			"a quote":         {Table: "accounts", Guard: "a' OR '1", Column: "id"},
			"a bad column":    {Table: "accounts", Column: `id" `},
		} {
			if err := f.Protect(t.Context(), db, p); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		nowhere, err := sqlfence.New(sqlfence.Config{Dialect: db.dialect, Table: "nowhere"})
		if err != nil {
			t.Fatal(err)
		}
		if err := nowhere.Protect(t.Context(), db, accounts()); err == nil {
			t.Error("a fence whose table is not there: accepted")
		}
	})
}

// What MySQL's triggers do not see is refused beforehand.
func TestProtectInMySQLRefusesGaps(t *testing.T) {
	b := newBank(t, sqlfence.MySQL)
	b.exec(t, "CREATE TABLE child (id INT, account INT, FOREIGN KEY (account) REFERENCES accounts (id) ON DELETE CASCADE) ENGINE = InnoDB",
		"CREATE TABLE other (id INT, account INT, FOREIGN KEY (account) REFERENCES accounts (id)) ENGINE = InnoDB",
		"CREATE TABLE memory (id INT) ENGINE = MEMORY", "CREATE TABLE myisam (id INT) ENGINE = MyISAM")
	for table, good := range map[string]bool{"child": false, "memory": false, "myisam": false, "other": true} {
		err := b.fence.Protect(t.Context(), b, sqlfence.Protection{Table: table, Guard: "tables/", Column: "id"})
		if good != (err == nil) || !good && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got %v, want it accepted: %v, or ErrUnsupported", table, err, good)
		}
	}
}

// Statements that turn errors of a row into warnings do not turn this one.
func TestProtectInMySQLAndStatementsThatGoOn(t *testing.T) {
	b := newBank(t, sqlfence.MySQL)
	for _, statement := range []string{"INSERT IGNORE INTO accounts VALUES (44, 1)", "UPDATE IGNORE accounts SET balance = 0",
		"DELETE IGNORE FROM accounts", "REPLACE INTO accounts VALUES (42, 0)",
		"INSERT INTO accounts VALUES (42, 0) ON DUPLICATE KEY UPDATE balance = 0",
		"DELETE accounts FROM accounts JOIN (SELECT 42 AS id) AS one USING (id)"} {
		b.refused(statement, b.plain(statement))
	}
	b.admitted(b.do(33, "INSERT INTO accounts VALUES (42, 0) ON DUPLICATE KEY UPDATE balance = 100", "REPLACE INTO accounts VALUES (42, 100)"))
}

// REPLACE takes rows away, and runs their triggers only if it is told to.
func TestProtectInSQLiteAndReplace(t *testing.T) {
	b := newBank(t, sqlfence.SQLite)
	payments := sqlfence.Protection{Table: "payments", Column: "account"}
	b.exec(t, "CREATE TABLE payments (id INTEGER PRIMARY KEY, account TEXT)", "INSERT INTO payments VALUES (1, '"+otherGuard+"')")
	b.admitted(b.fence.Protect(t.Context(), b, payments))
	const replace = "REPLACE INTO payments VALUES (1, '" + guard + "')"
	b.refused("a row of another guard", b.do(33, replace))
	off := &bank{t, connect(t, sqlfence.SQLite, strings.ReplaceAll(b.dsn, "recursive_triggers(1)", "recursive_triggers(0)")), b.fence}
	off.refused("a connection that does not run them", off.do(33, replace))
	off.refused("anything on such a connection", off.do(33, debit))
	if got := b.database.value(t, "SELECT account FROM payments"); got != otherGuard {
		t.Errorf("the payment is %s's, want %s's", got, otherGuard)
	}
}

func TestProtectInSQLiteSeesForeignKeys(t *testing.T) {
	b := newBank(t, sqlfence.SQLite)
	b.exec(t, "CREATE TABLE payments (id INTEGER PRIMARY KEY, account INT REFERENCES accounts ON DELETE CASCADE)", "INSERT INTO payments VALUES (1, 42)")
	b.admitted(b.fence.Protect(t.Context(), b, sqlfence.Protection{Table: "payments", Guard: otherGuard}))
	b.refused("a cascade to another guard", b.do(33, "DELETE FROM accounts WHERE id = 42"))
	if err := b.fence.Protect(t.Context(), b, sqlfence.Protection{Table: "main.accounts", Guard: guard}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("with a schema: got %v, want ErrUnsupported", err)
	}
}
