package sqlfence_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing/sqlfence"
	"github.com/fencelock/fencelock/test/servers"
)

// published is the statement that a psql user finds, for token 33.
func (b *bank) published() string {
	return strings.NewReplacer("$1", "'"+guard+"'", "$2", "33").Replace(b.fence.Statements().Advance)
}

// Advanced in a savepoint that is rolled back is not advanced.
func TestProtectSeesASavepointOfTheAdvance(t *testing.T) {
	b := newBank(t, sqlfence.PostgreSQL)
	advance := b.published()
	b.admitted(b.do(32))
	b.refused("rolled back", b.plain("SAVEPOINT a", advance, "ROLLBACK TO SAVEPOINT a", debit))
	b.admitted(b.plain("SAVEPOINT a", advance, "RELEASE SAVEPOINT a", debit))
	b.admitted(b.plain("SAVEPOINT a", advance, debit, "ROLLBACK TO SAVEPOINT a", advance, debit))
}

// The real psql, and somebody who knows nothing of fences.
func TestProtectRefusesPsql(t *testing.T) {
	psql := servers.Psql(t)
	b := newBank(t, sqlfence.PostgreSQL)
	by := func(sql string) error {
		out, err := exec.CommandContext(t.Context(), psql, "-X", "-v", "ON_ERROR_STOP=1", "-c", sql, b.dsn).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	b.refused("psql", by(debit))
	b.refused("psql, and not sorry", by("SET search_path = pg_temp; SET session_replication_role = origin; "+strings.ReplaceAll(debit, "accounts", "public.accounts")))
	// With the lock in hand, and its token, it is two statements.
	b.admitted(by(b.published() + "; " + debit))
	if got, want := b.sum(), "190 of 2"; got != want {
		t.Errorf("the accounts hold %s, want %s", got, want)
	}
}

// What a trigger of the user's own makes of a row is what counts.
func TestProtectSeesWhatOtherTriggersDo(t *testing.T) {
	b := newBank(t, sqlfence.PostgreSQL)
	b.exec(t, "CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := 44; RETURN NEW; END'",
		"CREATE TRIGGER zz BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION move()")
	b.refused("an update that a trigger moves to another guard", b.do(33, debit))
}

// A dump that is restored brings back numbers of transactions that are yet to
// come. The transaction that gets such a number has not passed the fence.
func TestProtectAfterARestore(t *testing.T) {
	b := newBank(t, sqlfence.PostgreSQL)
	b.admitted(b.do(33))
	b.exec(t, "UPDATE fencelock_fence SET xact = (pg_current_xact_id()::text::bigint + 1)::text::xid8")
	tx, err := b.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var same bool
	if err := tx.QueryRow("SELECT xact = pg_current_xact_id() FROM fencelock_fence").Scan(&same); err != nil || !same {
		t.Fatalf("this transaction has the number in the fence: %v, %v, want it to", same, err)
	}
	err = inside(debit)(tx)
	_ = tx.Rollback()
	b.refused("the transaction with an old number", err)
}

// Changes through a foreign key, to a parent or to a child, run triggers.
func TestProtectSeesForeignKeys(t *testing.T) {
	b := newBank(t, sqlfence.PostgreSQL)
	b.exec(t, "CREATE TABLE owners (id INT PRIMARY KEY)", "INSERT INTO owners VALUES (42), (43)",
		"ALTER TABLE accounts ADD FOREIGN KEY (id) REFERENCES owners ON DELETE CASCADE")
	b.refused("a cascade", b.plain("DELETE FROM owners WHERE id = 42"))
	b.refused("a cascade to another guard", b.do(33, "DELETE FROM owners WHERE id = 43"))
	b.admitted(b.do(33, "DELETE FROM owners WHERE id = 42"))
}

func TestProtectPartitions(t *testing.T) {
	b := &bank{T: t, database: open(t, sqlfence.PostgreSQL)}
	b.fence = b.database.fence(t, sqlfence.Config{})
	b.exec(t, "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT) PARTITION BY RANGE (id)",
		"CREATE TABLE low PARTITION OF accounts FOR VALUES FROM (0) TO (43)",
		"CREATE TABLE high PARTITION OF accounts FOR VALUES FROM (43) TO (100)",
		"INSERT INTO accounts VALUES (42, 100), (43, 100)")
	b.admitted(b.fence.Protect(t.Context(), b, accounts()))
	b.refused("the whole", b.plain(debit))
	b.refused("a part", b.plain(strings.ReplaceAll(debit, "accounts", "low")))
	b.refused("to another part", b.do(33, "UPDATE accounts SET id = 44 WHERE id = 42"))
	b.admitted(b.do(33, debit))
	b.admitted(b.fence.Unprotect(t.Context(), b, "accounts"))
	b.admitted(b.plain(debit))
}
