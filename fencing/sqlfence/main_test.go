package sqlfence_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
	"github.com/fencelock/fencelock/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

const guard, otherGuard = "accounts/42", "accounts/43"

// database is one that is real, and fresh.
type database struct {
	*sql.DB
	dialect sqlfence.Dialect
	dsn     string
}

var drivers = map[sqlfence.Dialect]string{sqlfence.PostgreSQL: "pgx", sqlfence.MySQL: "mysql", sqlfence.SQLite: "sqlite"}

// open returns a fresh database with a table of records.
func open(t testing.TB, dialect sqlfence.Dialect) *database {
	t.Helper()
	var dsn string
	switch dialect {
	case sqlfence.PostgreSQL:
		dsn = servers.Postgres(t)
	case sqlfence.MySQL:
		dsn = servers.MariaDB(t)
	case sqlfence.SQLite:
		dsn = sqliteFile(t.TempDir())
	}
	db := connect(t, dialect, dsn)
	db.exec(t, `CREATE TABLE records (guard VARCHAR(255), name VARCHAR(255), value VARCHAR(4000), PRIMARY KEY (guard, name))`)
	return db
}

func sqliteFile(dir string) string {
	return "file:" + filepath.Join(dir, "data.db") +
		"?_pragma=busy_timeout(20000)&_pragma=journal_mode(wal)&_pragma=recursive_triggers(1)&_pragma=foreign_keys(1)"
}

func connect(t testing.TB, dialect sqlfence.Dialect, dsn string) *database {
	t.Helper()
	pool, err := sql.Open(drivers[dialect], dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return &database{pool, dialect, dsn}
}

// exec runs statements behind the fences' back.
func (db *database) exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// value reads one text behind the fences' back, "" if there is no row.
func (db *database) value(t testing.TB, query string) string {
	t.Helper()
	var value string
	if err := db.QueryRowContext(context.Background(), query).Scan(&value); err != nil && err != sql.ErrNoRows {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// fence returns a fence in db whose table is there.
func (db *database) fence(t testing.TB, cfg sqlfence.Config) *sqlfence.Fence {
	t.Helper()
	cfg.Dialect = db.dialect
	f, err := sqlfence.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CreateTable(context.Background(), db); err != nil {
		t.Fatal(err)
	}
	return f
}

// each runs a test in every kind of database.
func each(t *testing.T, test func(t *testing.T, db *database)) {
	for _, dialect := range []sqlfence.Dialect{sqlfence.PostgreSQL, sqlfence.MySQL, sqlfence.SQLite} {
		t.Run(string(dialect), func(t *testing.T) { test(t, open(t, dialect)) })
	}
}

// as is the context of a holder of guard.
func as(t testing.TB, token fencing.Token) context.Context {
	return fencing.NewContext(t.Context(), fencing.Sequencer{Lock: guard, Token: token})
}

// sql writes placeholders as the database wants them.
func (db *database) sql(query string) string {
	if db.dialect != sqlfence.PostgreSQL {
		return query
	}
	parts := strings.Split(query, "?")
	for i := range len(parts) - 1 {
		parts[i] += fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(parts, "")
}

// awaitWaiter returns when a session waits for a lock that another holds.
func (db *database) awaitWaiter(t testing.TB) { t.Helper(); db.awaitWaiters(t, 1) }

// awaitWaiters returns when n sessions wait. In SQLite nobody can be seen
// waiting: there it returns at once.
func (db *database) awaitWaiters(t testing.TB, n int) {
	t.Helper()
	query := map[sqlfence.Dialect]string{
		sqlfence.PostgreSQL: "SELECT COUNT(*) FROM pg_locks WHERE NOT granted",
		sqlfence.MySQL:      "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'innodb_row_lock_current_waits'",
	}[db.dialect]
	if query == "" {
		return
	}
	for deadline := time.Now().Add(30 * time.Second); db.value(t, query) != strconv.Itoa(n); {
		if time.Now().After(deadline) {
			t.Fatalf("%s sessions wait, want %d", db.value(t, query), n)
		}
	}
}
