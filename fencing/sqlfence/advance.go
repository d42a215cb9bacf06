package sqlfence

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Advance claims the guard's fence in a transaction of your own, and must be its
// first statement: what was read before may be older than the fence. Until the
// transaction ends, nobody else passes this fence.
//
// If it returns an error, it has rolled the transaction back. A lower token than
// the fence has admitted is a [*fencing.StaleError]; a sequencer of another lock
// than guard is [fencing.ErrWrongGuard]; see [fencing.Sequencer.CheckGuard] for
// the others.
//
// Verify, if set, is asked inside the transaction, in MySQL with the guard's row
// locked. [Fence.Do] asks before it opens the transaction.
func (f *Fence) Advance(ctx context.Context, tx *sql.Tx, guard string, seq fencing.Sequencer) error {
	err := check(guard, seq)
	if err == nil {
		err = f.verify(ctx, tx, f.sql.Highest, seq)
	}
	if err == nil {
		err = f.advance(ctx, tx, f.sql.Advance, seq)
	}
	if err != nil {
		_ = tx.Rollback() // its only error is that the transaction is over
	}
	return err
}

func check(guard string, seq fencing.Sequencer) error {
	if err := keys.CheckName(guard); err != nil {
		return err
	}
	return seq.CheckGuard(guard)
}

// verify asks about a token that would raise the fence. A fence only rises, so
// one that has admitted the token once admits or refuses it without asking.
func (f *Fence) verify(ctx context.Context, db queryer, query string, seq fencing.Sequencer) error {
	if f.config.Verify == nil {
		return nil
	}
	stands, err := highest(ctx, db, query, seq.Lock)
	if err != nil || stands >= seq.Token {
		return err
	}
	if err := f.config.Verify(ctx, seq); err != nil {
		return fmt.Errorf("verify %s: %w", seq, err)
	}
	return nil
}

// advance runs the upsert and reads its verdict.
func (f *Fence) advance(ctx context.Context, tx *sql.Tx, statement string, seq fencing.Sequencer) error {
	result, err := f.sql.exec(ctx, tx, statement, seq.Lock, int64(seq.Token))
	if err != nil {
		return fmt.Errorf("advance the fence of %q: %w", seq.Lock, err)
	}
	stands, err := f.verdict(ctx, tx, result, seq)
	if err != nil {
		return fmt.Errorf("advance the fence of %q: %w", seq.Lock, err)
	}
	if stands > seq.Token {
		return &fencing.StaleError{Guard: seq.Lock, Token: seq.Token, Highest: stands}
	}
	return nil
}

// verdict returns where the fence stands after the upsert.
func (f *Fence) verdict(ctx context.Context, tx *sql.Tx, result sql.Result, seq fencing.Sequencer) (fencing.Token, error) {
	if f.sql.fenceIsID {
		id, err := result.LastInsertId()
		if err == nil && fencing.Token(id) < seq.Token {
			err = fmt.Errorf("the database answers that the fence stands at %d, below %v: no InnoDB table, or a driver that loses the last insert id", id, seq.Token)
		}
		return fencing.Token(id), err
	}
	affected, err := result.RowsAffected()
	if err != nil || affected == 1 {
		return seq.Token, err
	}
	stands, err := highest(ctx, tx, f.sql.Highest, seq.Lock)
	if err == nil && stands <= seq.Token {
		err = fmt.Errorf("refused %v, but the fence stands at %v", seq.Token, stands)
	}
	return stands, err
}
