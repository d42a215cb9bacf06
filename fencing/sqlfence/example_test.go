package sqlfence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// bankInMemory is a database with one account and a fence; the example is the
// same for PostgreSQL and MySQL.
func bankInMemory(cfg sqlfence.Config) (*sql.DB, *sqlfence.Fence) {
	db, err := sql.Open("sqlite", ":memory:?_pragma=recursive_triggers(1)")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	cfg.Dialect = sqlfence.SQLite
	fence, err := sqlfence.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	if err := fence.CreateTable(context.Background(), db); err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER); INSERT INTO accounts VALUES (42, 100)"); err != nil {
		log.Fatal(err)
	}
	return db, fence
}

// A holder pauses, is overtaken, and comes back with its write. In a service the
// sequencers come from Lock.Bind, or with a request.
func ExampleFence_Do() {
	db, fence := bankInMemory(sqlfence.Config{})
	defer db.Close()
	withdraw := func(ctx context.Context, amount int) error {
		return fence.Do(ctx, db, "accounts/42", func(tx *sql.Tx) error {
			var balance int
			if err := tx.QueryRow("SELECT balance FROM accounts WHERE id = 42").Scan(&balance); err != nil {
				return err
			}
			_, err := tx.Exec("UPDATE accounts SET balance = ? WHERE id = 42", balance-amount)
			return err
		})
	}

	ctx := context.Background()
	paused := fencing.NewContext(ctx, fencing.Sequencer{Lock: "accounts/42", Token: 33})
	holder := fencing.NewContext(ctx, fencing.Sequencer{Lock: "accounts/42", Token: 34})
	fmt.Println(withdraw(holder, 10))
	err := withdraw(paused, 50)
	fmt.Println(errors.Is(err, fencing.ErrStale), err)
	fmt.Println(withdraw(ctx, 50))
	// Output:
	// <nil>
	// true stale fencing token: token 33 of "accounts/42": the fence has admitted 34; take the lock again and redo the work from a fresh read
	// sequencer for "accounts/42": missing
}

// In a transaction of one's own, Advance is the first statement. When it refuses,
// it has rolled the transaction back.
func ExampleFence_Advance() {
	db, fence := bankInMemory(sqlfence.Config{})
	defer db.Close()
	withdraw := func(ctx context.Context, seq fencing.Sequencer) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := fence.Advance(ctx, tx, "accounts/42", seq); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - 10 WHERE id = 42"); err != nil {
			return err
		}
		return tx.Commit()
	}

	ctx := context.Background()
	fmt.Println(withdraw(ctx, fencing.Sequencer{Lock: "accounts/42", Token: 34}))
	fmt.Println(errors.Is(withdraw(ctx, fencing.Sequencer{Lock: "accounts/42", Token: 33}), fencing.ErrStale))
	fmt.Println(errors.Is(withdraw(ctx, fencing.Sequencer{Lock: "accounts/43", Token: 99}), fencing.ErrWrongGuard))
	// Output:
	// <nil>
	// true
	// true
}

// Once a table is protected, who forgets the fence is refused.
func ExampleFence_Protect() {
	db, fence := bankInMemory(sqlfence.Config{Protected: true})
	defer db.Close()
	ctx := context.Background()
	err := fence.Protect(ctx, db, sqlfence.Protection{Table: "accounts", Guard: "accounts/", Column: "id"})
	if err != nil {
		log.Fatal(err)
	}

	const withdraw = "UPDATE accounts SET balance = balance - 10 WHERE id = 42"
	_, err = db.Exec(withdraw)
	fmt.Println("forgotten:", err)
	holder := fencing.NewContext(ctx, fencing.Sequencer{Lock: "accounts/42", Token: 34})
	err = fence.Do(holder, db, "accounts/42", func(tx *sql.Tx) error {
		_, err := tx.Exec(withdraw)
		return err
	})
	fmt.Println("fenced:", err)
	// Output:
	// forgotten: constraint failed: fencelock: refused: this transaction has not passed the fence of the row (1811)
	// fenced: <nil>
}
