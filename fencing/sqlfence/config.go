package sqlfence

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
)

// Dialect is the SQL that a database speaks.
type Dialect string

// The databases that can keep a fence.
const (
	PostgreSQL Dialect = "postgresql" // 13 or newer
	MySQL      Dialect = "mysql"      // MySQL 8 and MariaDB, tables in InnoDB
	SQLite     Dialect = "sqlite"     // 3.24 or newer
)

// Config says where the fences of a database lie.
type Config struct {
	// Dialect has no default.
	Dialect Dialect

	// Table keeps one row for each guard; "fencelock_fence" by default. It may
	// name its schema, "billing.fence", and is used as it is spelt here, quoted.
	// It belongs into the database that holds what it guards.
	Table string

	// Verify is asked about a token that would raise a fence, before it does; an
	// error refuses it. The client's Check is one. Without Verify any number is
	// admitted, and one that was never issued locks out every holder to come
	// until [Fence.Repair]. It costs one read in each transaction.
	Verify func(ctx context.Context, seq fencing.Sequencer) error

	// Isolation of the transactions that Do opens; by default the database's own.
	Isolation sql.IsolationLevel

	// Protected lets Do write to tables that are under [Fence.Protect] in MySQL
	// and SQLite, at the cost of one more statement in each transaction.
	// PostgreSQL does not need it.
	Protected bool
}

const defaultTable = "fencelock_fence"

func (c Config) withDefaults() Config {
	if c.Table == "" {
		c.Table = defaultTable
	}
	return c
}

func (c Config) validate() error {
	switch c.Dialect {
	case PostgreSQL, MySQL, SQLite:
	default:
		return fmt.Errorf("dialect %q: want %q, %q or %q", c.Dialect, PostgreSQL, MySQL, SQLite)
	}
	if err := checkTable(c.Table); err != nil {
		return err
	}
	if c.Isolation < sql.LevelDefault || c.Isolation > sql.LevelLinearizable {
		return fmt.Errorf("isolation: no such level: %d", c.Isolation)
	}
	return nil
}
