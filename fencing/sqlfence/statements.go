package sqlfence

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Statements are the texts that a [Fence] sends, for those who reach the
// database by pgx, gorm or sqlc. Placeholders are the dialect's own; arguments
// come in the order (guard, token).
type Statements struct {
	// Schema makes the table if it is not there. In PostgreSQL two sessions that
	// do so at the same moment can disturb each other; [Fence.CreateTable] cannot.
	Schema string

	// Advance (guard, token) raises the fence or refuses. It must be the first
	// statement of its transaction, which must be rolled back after a refusal.
	//
	// PostgreSQL and SQLite: one row is affected if the token is admitted, none if
	// it is stale. MySQL: the last insert id is where the fence stands now, above
	// the token if that is stale; what "rows affected" says there depends on the
	// connection's flags.
	Advance string

	// Highest (guard) reads where the fence stands; no row: nowhere yet. In MySQL
	// it locks the row, since a transaction reads its own snapshot otherwise.
	Highest string
}

// statements are all texts of one fence.
type statements struct {
	Statements

	glance  string // Highest, outside of a transaction: no locks
	marking string // Advance, and leaves the mark that Protect looks for
	unmark  string // (guard) takes the mark away; "": it ends with the transaction
	repair  string // (right token, guard, wrong token)
	turn    string // makes changes of the schema wait for each other; "": nothing to do

	// fenceIsID: after advance and marking, the last insert id is the fence.
	fenceIsID bool

	// literals: what runs in every transaction goes out with its values in the
	// text. go-sql-driver prepares, runs and closes a statement with arguments, one
	// round trip more than without.
	literals bool
}

// exec runs a statement for a guard and, if it has a second placeholder, a token.
func (s statements) exec(ctx context.Context, tx *sql.Tx, statement, guard string, token ...any) (sql.Result, error) {
	if !s.literals {
		return tx.ExecContext(ctx, statement, append([]any{guard}, token...)...)
	}
	// Hexadecimal digits need no quoting, and are bytes in any character set.
	statement = strings.Replace(statement, "?", fmt.Sprintf("x'%x'", guard), 1)
	for _, number := range token {
		statement = strings.Replace(statement, "?", fmt.Sprintf("%d", number), 1)
	}
	return tx.ExecContext(ctx, statement)
}

// statementsOf fills in the table.
func statementsOf(dialect Dialect, table string) statements {
	table = dialect.quote(table)
	switch dialect {
	case PostgreSQL:
		return postgresStatements(table)
	case MySQL:
		return mysqlStatements(table)
	default:
		return sqliteStatements(table)
	}
}
