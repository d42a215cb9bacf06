package fences

import (
	"context"
	"database/sql"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

func inPostgreSQL(ctx context.Context, locks *client.Client, db *sql.DB) error {
	fence, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.PostgreSQL, Verify: locks.Check})
	if err != nil {
		return err
	}
	if err := fence.CreateTable(ctx, db); err != nil {
		return err
	}
	// From here on a write to the row with id 42 that has not passed the fence of the
	// lock "accounts/42" is refused, also one by hand in psql.
	err = fence.Protect(ctx, db, sqlfence.Protection{Table: "accounts", Guard: "accounts/", Column: "id"})
	if err != nil {
		return err
	}
	withdraw := func(ctx context.Context) error {
		return fence.Do(ctx, db, "accounts/42", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - 10 WHERE id = 42")
			return err
		})
	}
	return overtaken(ctx, locks, "accounts/42", withdraw) // a *fencing.StaleError
}
