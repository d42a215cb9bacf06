package sqlfence

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Protection says which lock guards each row of a table.
type Protection struct {
	// Table is the one to protect: TABLE or SCHEMA.TABLE.
	Table string

	// Guard is the name of the lock, or its beginning if Column is set.
	Guard string

	// Column holds the rest of the name: with the guard "accounts/" and the column
	// "id", the row with id 42 is guarded by the lock "accounts/42". Where one
	// column does not hold it, a generated one can. Without Column one lock guards
	// the whole table. A row whose Column is NULL has no guard, and cannot be written.
	Column string
}

// Protect puts triggers on a table that refuse to insert, update and delete a
// row unless the same transaction has passed the fence of that row's guard: an
// update that changes the guard needs both. So a forgotten Do, and a hand in the
// database's shell, are refused too. The transaction of a refused statement is to
// be rolled back. In PostgreSQL and MySQL the refusal has the SQL state [Unfenced].
//
// PostgreSQL knows the transaction that has advanced a fence by its number, so any
// way of advancing will do. MySQL and SQLite have no such number: there only [Fence.Do]
// can write, with Config.Protected, which marks the fence's row and takes the mark
// away before it commits. Nobody else can see a mark that is never committed.
//
// What triggers cannot refuse, and what therefore needs rights, is listed in the
// package comment. Where triggers would leave a gap that can be seen beforehand,
// the error is [errors.ErrUnsupported].
//
// To protect again is cheap, and changes guard and column where they differ. The
// table of fences must exist.
func (f *Fence) Protect(ctx context.Context, db DB, p Protection) error {
	if err := p.validate(); err != nil {
		return fmt.Errorf("protect: %w", err)
	}
	err := f.inTurn(ctx, db, func(tx *sql.Tx) error { return f.exchange(ctx, tx, p.Table, &p) })
	if err != nil {
		return fmt.Errorf("protect %s: %w", p.Table, err)
	}
	return nil
}

// Unprotect takes the triggers away again.
func (f *Fence) Unprotect(ctx context.Context, db DB, table string) error {
	if err := checkTable(table); err != nil {
		return fmt.Errorf("unprotect: %w", err)
	}
	err := f.inTurn(ctx, db, func(tx *sql.Tx) error { return f.exchange(ctx, tx, table, nil) })
	if err != nil {
		return fmt.Errorf("unprotect %s: %w", table, err)
	}
	return nil
}

// Unfenced is the SQL state of a write that the triggers of [Fence.Protect] refuse.
const Unfenced = "FENCE"

func (p Protection) validate() error {
	if err := checkTable(p.Table); err != nil {
		return err
	}
	if strings.ContainsAny(p.Guard, `'\`) {
		return fmt.Errorf("%w: guard %q: no quote and no backslash, please", fencing.ErrInvalidName, p.Guard)
	}
	if p.Column == "" {
		return keys.CheckName(p.Guard)
	}
	if err := checkIdentifier(p.Column); err != nil {
		return fmt.Errorf("column %q: %w", p.Column, err)
	}
	return keys.CheckPrefix(p.Guard)
}

// trigger is one that protects a table. Its name tells its text, so that two of
// the same name do the same.
type trigger struct {
	name   string
	create []string
}

const (
	triggerPrefix = "fencelock_"
	ownName       = "\x00" // stands for the trigger's name in its statements
)

// named puts a name that depends on all statements into each of them.
func named(statements ...string) trigger {
	sum := sha256.Sum256([]byte(strings.Join(statements, ";")))
	t := trigger{name: fmt.Sprintf("%s%x", triggerPrefix, sum[:8])}
	for _, statement := range statements {
		t.create = append(t.create, strings.ReplaceAll(statement, ownName, t.name))
	}
	return t
}

// protector is how one database does it, for one table.
type protector interface {
	// triggers are those that p needs. It finds what would leave a gap.
	triggers(p Protection) ([]trigger, error)
	// present are those on the table, of any protection.
	present() ([]string, error)
	remove(trigger string) error
}

// exchange makes the triggers on a table those of p, or none if p is nil; new
// ones before old ones, so that there is no moment without.
func (f *Fence) exchange(ctx context.Context, tx *sql.Tx, table string, p *Protection) error {
	on, err := f.protectorOf(ctx, tx, table)
	if err != nil {
		return err
	}
	var wanted []trigger
	if p != nil {
		if wanted, err = on.triggers(*p); err != nil {
			return err
		}
	}
	present, err := on.present()
	if err != nil {
		return err
	}
	for _, t := range wanted {
		if i := slices.Index(present, t.name); i >= 0 {
			present = slices.Delete(present, i, i+1)
		} else if err := execute(ctx, tx, t.create...); err != nil {
			return err
		}
	}
	for _, name := range present {
		if err := on.remove(name); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fence) protectorOf(ctx context.Context, tx *sql.Tx, table string) (protector, error) {
	s := site{ctx: ctx, tx: tx, dialect: f.config.Dialect, table: table, fence: f.config.Table}
	switch f.config.Dialect {
	case PostgreSQL:
		return onPostgres(s)
	case MySQL:
		return onMySQL(s)
	default:
		return onSQLite(s)
	}
}

// site is where protectors work.
type site struct {
	ctx     context.Context
	tx      *sql.Tx
	dialect Dialect
	table   string // as the caller spells it
	fence   string // the table of fences
}

// hasColumn finds a wrong name before the triggers are there.
func (s site) hasColumn(name string) error {
	if name == "" {
		return nil
	}
	return execute(s.ctx, s.tx, "SELECT t."+s.dialect.quote(name)+" FROM "+s.dialect.quote(s.table)+" AS t WHERE 1 = 0")
}

// names reads a column of text.
func (s site) names(query string, args ...any) ([]string, error) {
	rows, err := s.tx.QueryContext(s.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func execute(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func unsupported(why string) error { return fmt.Errorf("%w: %s", errors.ErrUnsupported, why) }
