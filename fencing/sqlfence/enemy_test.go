package sqlfence_test

// What people, tools and other SQL do to a table under Protect, and to the table
// of fences.

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
	"github.com/fencelock/fencelock/test/servers"
)

// Every statement of PostgreSQL that writes rows, without the fence.
func TestProtectInPostgreSQLRefusesEveryWayToWrite(t *testing.T) {
	b := newBank(t, sqlfence.PostgreSQL)
	b.exec(t, "CREATE VIEW seen AS SELECT * FROM accounts",
		"CREATE FUNCTION pay() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'UPDATE accounts SET balance = 0 WHERE id = 42'",
		"CREATE TABLE source AS SELECT 42 AS id, 0 AS balance")
	for _, statement := range []string{
		"WITH gone AS (DELETE FROM accounts WHERE id = 42 RETURNING *) SELECT * FROM gone",
		"INSERT INTO accounts VALUES (42, 0) ON CONFLICT (id) DO UPDATE SET balance = 0",
		"MERGE INTO accounts a USING source s ON a.id = s.id WHEN MATCHED THEN UPDATE SET balance = 0",
		"MERGE INTO accounts a USING source s ON a.id = s.id WHEN MATCHED THEN DELETE",
		"UPDATE seen SET balance = 0 WHERE id = 42",
		"UPDATE ONLY accounts SET balance = 0 WHERE id = 42",
		"SELECT pay()",
		"DO $$ BEGIN UPDATE accounts SET balance = 0 WHERE id = 42; END $$",
	} {
		b.refused(statement, b.plain(statement))
		b.refused(statement+", as the holder of another", b.fence.Do(fencing.NewContext(t.Context(),
			fencing.Sequencer{Lock: otherGuard, Token: 1}), b, otherGuard, inside(statement)))
	}
	conn, err := pgx.Connect(t.Context(), b.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, err = conn.PgConn().CopyFrom(t.Context(), strings.NewReader("44\t1\n"), "COPY accounts FROM STDIN")
	b.refused("COPY", err)
}

// Rows of a table that inherits from this one are changed by statements about this
// one, and run no triggers here.
func TestProtectInPostgreSQLRefusesInheritance(t *testing.T) {
	b := newBank(t, sqlfence.PostgreSQL)
	b.exec(t, "CREATE TABLE savings () INHERITS (accounts)")
	if err := b.fence.Protect(t.Context(), b, accounts()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a table with heirs: got %v, want ErrUnsupported", err)
	}
	b.admitted(b.fence.Protect(t.Context(), b, sqlfence.Protection{Table: "savings", Guard: "accounts/", Column: "id"}))
}

// A transaction that waits for its second phase holds the fence like any other.
func TestPreparedTransactionHoldsTheFence(t *testing.T) {
	s := servers.StartPostgres(t, "-c", "max_prepared_transactions=2")
	b := &bank{T: t, database: connect(t, sqlfence.PostgreSQL, s.DSN("postgres"))}
	b.fence = b.database.fence(t, sqlfence.Config{})
	b.exec(t, "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT)", "INSERT INTO accounts VALUES (42, 100)")
	b.admitted(b.fence.Protect(t.Context(), b, accounts()))
	tx, err := b.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.admitted(b.fence.Advance(t.Context(), tx, guard, fencing.Sequencer{Lock: guard, Token: 33}))
	b.admitted(inside(debit, "PREPARE TRANSACTION 'first'")(tx))
	_ = tx.Rollback() // of nothing: the transaction left this session
	newer := make(chan error)
	var seen string
	go func() {
		newer <- b.fence.Do(as(t, 34), b, guard, func(tx *sql.Tx) error {
			return tx.QueryRow("SELECT balance FROM accounts").Scan(&seen)
		})
	}()
	b.awaitWaiter(t)
	b.exec(t, "COMMIT PREPARED 'first'")
	b.admitted(<-newer)
	if seen != "90" {
		t.Errorf("the newer holder reads %s, want 90", seen)
	}
}

// A database that takes no writes refuses holders with an error of its own, not
// with one about their tokens.
func TestReadOnlyTransaction(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: db.dialect != sqlfence.SQLite})
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if db.dialect == sqlfence.SQLite { // its driver has no such transactions
			if _, err := tx.Exec("PRAGMA query_only = 1"); err != nil {
				t.Fatal(err)
			}
		}
		err = f.Advance(t.Context(), tx, guard, fencing.Sequencer{Lock: guard, Token: 33})
		if err == nil || errors.Is(err, fencing.ErrStale) || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("got %v, want the database's refusal", err)
		}
	})
}

// A fence that was advanced in a savepoint and taken back was not advanced, for
// tables without Protect too: what is written afterwards stands without a fence,
// and the next Advance of the transaction makes it good.
func TestAdvanceTakenBackByASavepoint(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if err := inside("SAVEPOINT a")(tx); err != nil {
			t.Fatal(err)
		}
		if err := f.Advance(t.Context(), tx, guard, fencing.Sequencer{Lock: guard, Token: 33}); err != nil {
			t.Fatal(err)
		}
		if err := inside("ROLLBACK TO SAVEPOINT a")(tx); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Highest(t.Context(), db, guard); got != 0 || err != nil {
			t.Errorf("the fence stands at %v, %v, want nowhere", got, err)
		}
	})
}

func TestProtectInMySQLRefusesEveryWayToWrite(t *testing.T) {
	b := newBank(t, sqlfence.MySQL)
	b.exec(t, "CREATE VIEW seen AS SELECT * FROM accounts",
		"CREATE PROCEDURE pay() UPDATE accounts SET balance = 0 WHERE id = 42",
		"CREATE TABLE source AS SELECT 42 AS id, 0 AS balance")
	for _, statement := range []string{
		"UPDATE accounts a, source s SET a.balance = 0 WHERE a.id = s.id",
		"DELETE a FROM accounts a, source s WHERE a.id = s.id",
		"INSERT INTO accounts SELECT id + 2, balance FROM source",
		"REPLACE INTO accounts SELECT * FROM source",
		"UPDATE seen SET balance = 0 WHERE id = 42",
		"CALL pay()",
		"UPDATE accounts SET balance = 0 ORDER BY id LIMIT 1",
	} {
		b.refused(statement, b.plain(statement))
	}
	for how, row := range map[string]string{"": "44\t1\n", "IGNORE ": "44\t1\n", "REPLACE ": "42\t0\n"} {
		mysql.RegisterReaderHandler("row", func() io.Reader { return strings.NewReader(row) })
		_, err := b.Exec("LOAD DATA LOCAL INFILE 'Reader::row' " + how + "INTO TABLE accounts")
		b.refused("LOAD DATA "+how, err)
	}
	mysql.DeregisterReaderHandler("row")
}

// The same file under another name, names in another schema that hide those of
// the fence, and SQLite's own ways to write.
func TestProtectInSQLiteRefusesEveryWayToWrite(t *testing.T) {
	b := newBank(t, sqlfence.SQLite)
	for _, statement := range []string{
		"INSERT INTO accounts VALUES (42, 0) ON CONFLICT (id) DO UPDATE SET balance = 0",
		"UPDATE OR REPLACE accounts SET id = 42 WHERE id = 43",
		"INSERT OR IGNORE INTO accounts VALUES (44, 1)",
		"UPDATE accounts SET balance = 0 FROM (SELECT 42 AS id) AS one WHERE accounts.id = one.id",
		"DELETE FROM accounts WHERE id = 42 RETURNING id",
	} {
		b.refused(statement, b.plain(statement))
	}
	b.SetMaxOpenConns(1) // what follows belongs to a connection
	b.exec(t, "CREATE TEMP TABLE fencelock_fence (guard TEXT PRIMARY KEY, token INTEGER, writer INTEGER)",
		"INSERT INTO temp.fencelock_fence VALUES ('"+guard+"', 33, 1)")
	b.refused("a fence of one's own", b.plain(debit))
	other := connect(t, sqlfence.SQLite, sqliteFile(t.TempDir()))
	other.SetMaxOpenConns(1)
	file, _, _ := strings.Cut(strings.TrimPrefix(b.dsn, "file:"), "?")
	other.exec(t, "ATTACH '"+file+"' AS bank",
		"CREATE TABLE fencelock_fence (guard TEXT PRIMARY KEY, token INTEGER, writer INTEGER)",
		"INSERT INTO main.fencelock_fence VALUES ('"+guard+"', 33, 1)")
	_, err := other.Exec(strings.ReplaceAll(debit, "accounts", "bank.accounts"))
	b.refused("attached to another file", err)
}

// Numbers that are not tokens do not get into the table of fences, by whatever way.
func TestTableOfFencesHoldsTokensOnly(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		ctx := as(t, 33)
		for _, bad := range []fencing.Token{0, -1, -1 << 63} {
			err := f.Do(fencing.NewContext(t.Context(), fencing.Sequencer{Lock: guard, Token: bad}), db, guard, func(*sql.Tx) error { return nil })
			if !errors.Is(err, fencing.ErrMalformed) {
				t.Errorf("token %d: got %v, want %v", bad, err, fencing.ErrMalformed)
			}
		}
		if err := f.Do(ctx, db, guard, func(*sql.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"0", "-1", "NULL"} {
			if _, err := db.Exec("UPDATE fencelock_fence SET token = " + bad); err == nil {
				t.Errorf("the fence was set to %s by hand", bad)
			}
		}
		if got, err := f.Highest(ctx, db, guard); got != 33 || err != nil {
			t.Errorf("the fence stands at %v, %v, want 33", got, err)
		}
	})
}
