package sqlfence_test

import (
	"context"
	"log"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// withdrawByPgx has its own transaction, and a fence of one statement.
func withdrawByPgx(ctx context.Context, conn *pgx.Conn, advance string, seq fencing.Sequencer) error {
	if err := seq.CheckGuard("accounts/42"); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		passed, err := tx.Exec(ctx, advance, seq.Lock, int64(seq.Token))
		if err != nil {
			return err
		}
		if passed.RowsAffected() == 0 {
			return fencing.ErrStale // rolls back
		}
		_, err = tx.Exec(ctx, "UPDATE accounts SET balance = balance - 10 WHERE id = 42")
		return err
	})
}

// Without database/sql: pgx and the published statement.
func ExampleFence_Statements() {
	ctx := context.Background()
	fence, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.PostgreSQL})
	if err != nil {
		log.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close(ctx)
	seq, err := fencing.ParseSequencer(os.Getenv("FENCELOCK_SEQUENCER")) // as "fencelock lock" sets it
	if err != nil {
		log.Fatal(err)
	}
	if err := withdrawByPgx(ctx, conn, fence.Statements().Advance, seq); err != nil {
		log.Fatal(err)
	}
}
