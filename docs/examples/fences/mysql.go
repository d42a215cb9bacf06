package fences

import (
	"context"
	"database/sql"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

func inMySQL(ctx context.Context, locks *client.Client, db *sql.DB) error {
	fence, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.MySQL, Verify: locks.Check})
	if err != nil {
		return err
	}
	if err := fence.CreateTable(ctx, db); err != nil {
		return err
	}
	withdraw := func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		seq, err := fencing.ForGuard(ctx, "accounts/42")
		if err != nil {
			return err
		}
		if err := fence.Advance(ctx, tx, "accounts/42", seq); err != nil { // the first statement
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - 10 WHERE id = 42"); err != nil {
			return err
		}
		return tx.Commit()
	}
	return overtaken(ctx, locks, "accounts/42", withdraw) // a *fencing.StaleError
}
