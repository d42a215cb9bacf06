package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// commit tells a commit that the database has refused from one whose answer was
// lost.
func commit(ctx context.Context, tx *sql.Tx) error {
	if err := ended(ctx); err != nil {
		return fmt.Errorf("rolled back before the commit: %w", err)
	}
	err := tx.Commit()
	switch {
	case err == nil:
		return nil
	case refused(err):
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("commit: %w: %w", fencing.ErrUncertain, err)
}

// refused reports whether the database itself has said that the transaction was
// rolled back: a serialization failure, or a check that was put off until the
// commit. Drivers that do not tell the SQL state leave it uncertain; so does
// 40003, "statement completion unknown".
func refused(err error) bool {
	var answer interface{ SQLState() string }
	if !errors.As(err, &answer) {
		return false
	}
	state := answer.SQLState()
	return state != "40003" && (strings.HasPrefix(state, "40") || strings.HasPrefix(state, "23") || strings.HasPrefix(state, "P0"))
}

// ended returns why ctx has ended, as itself and as its cause, a lost lock say.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
