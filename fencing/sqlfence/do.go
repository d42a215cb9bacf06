package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/fencelock/fencelock/fencing"
)

// Do runs fn in a transaction that has passed the fence of guard, with the
// sequencer of that lock that ctx carries, and commits it. A ctx without one is
// [fencing.ErrMissing]; one with those of other locks only is
// [fencing.ErrWrongGuard]; an overtaken holder gets a [*fencing.StaleError].
//
// fn reads and writes through tx alone, and neither commits nor rolls back; in
// MySQL it runs no statement that commits by itself, such as CREATE TABLE. It
// runs at most once.
//
// After any error but [fencing.ErrUncertain] nothing was written. That one means
// that the answer to the commit was lost; the transaction, if it still runs,
// holds the row of its fence, so that it is decided before the next Do under this
// guard, by whatever holder, can read or write.
func (f *Fence) Do(ctx context.Context, db DB, guard string, fn func(tx *sql.Tx) error) error {
	return f.DoAll(ctx, db, []string{guard}, fn)
}

// DoAll is [Fence.Do] behind several guards at once, each with its own sequencer
// in ctx. It passes them in the order of their names, so that two calls cannot
// wait for each other.
func (f *Fence) DoAll(ctx context.Context, db DB, guards []string, fn func(tx *sql.Tx) error) error {
	seqs, err := sequencers(ctx, guards)
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		if err := f.verify(ctx, db, f.sql.glance, seq); err != nil {
			return err
		}
	}
	tx, err := f.begin(ctx, db, seqs)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := f.unmark(ctx, tx, seqs); err != nil {
		return err
	}
	return commit(ctx, tx)
}

// sequencers finds the one of each guard, in the order of their names.
func sequencers(ctx context.Context, guards []string) ([]fencing.Sequencer, error) {
	if len(guards) == 0 {
		return nil, fmt.Errorf("no guard is named: %w", fencing.ErrMissing)
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(guards)))
	seqs := make([]fencing.Sequencer, len(sorted))
	for i, guard := range sorted {
		seq, err := fencing.ForGuard(ctx, guard)
		if err == nil {
			err = check(guard, seq)
		}
		if err != nil {
			return nil, err
		}
		seqs[i] = seq
	}
	return seqs, nil
}

// attempts bounds how often a transaction is begun. Until fn has run there is
// nothing to lose in beginning anew, so what databases want repeated (deadlocks
// between two holders of a new guard, serialization failures at the fence) needs
// no knowledge of any driver's errors. An error that stays costs as many tries.
const attempts = 5

// begin opens a transaction and passes every fence.
func (f *Fence) begin(ctx context.Context, db DB, seqs []fencing.Sequencer) (*sql.Tx, error) {
	var err error
	for range attempts {
		var tx *sql.Tx
		if tx, err = f.tryBegin(ctx, db, seqs); err == nil {
			return tx, nil
		}
		if errors.Is(err, fencing.ErrStale) || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func (f *Fence) tryBegin(ctx context.Context, db DB, seqs []fencing.Sequencer) (*sql.Tx, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: f.config.Isolation})
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	statement := f.sql.Advance
	if f.config.Protected {
		statement = f.sql.marking
	}
	for _, seq := range seqs {
		if err := f.advance(ctx, tx, statement, seq); err != nil {
			_ = tx.Rollback() // its only error is that the transaction is over
			return nil, err
		}
	}
	return tx, nil
}

// unmark takes away the marks that tryBegin has set, so that none is ever
// committed.
func (f *Fence) unmark(ctx context.Context, tx *sql.Tx, seqs []fencing.Sequencer) error {
	if !f.config.Protected || f.sql.unmark == "" {
		return nil
	}
	for _, seq := range seqs {
		if _, err := f.sql.exec(ctx, tx, f.sql.unmark, seq.Lock); err != nil {
			return fmt.Errorf("unmark the fence of %q: %w", seq.Lock, err)
		}
	}
	return nil
}
