package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// openDatabase returns PostgreSQL at url or, if that is empty, a SQLite file in dir.
func openDatabase(url, dir string) (*sql.DB, sqlfence.Dialect, error) {
	if url != "" {
		db, err := sql.Open("pgx", url)
		return db, sqlfence.PostgreSQL, err
	}
	// A transaction that finds another one at work waits for it (busy_timeout), and
	// readers do not stand in a writer's way (WAL).
	file := "file:" + filepath.Join(dir, "ledger.db") + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"
	db, err := sql.Open("sqlite", file)
	return db, sqlfence.SQLite, err
}

// createTables makes an empty ledger. The fences lie in the same database as the
// entries: only there can one transaction look at the one and write the other.
func createTables(ctx context.Context, db *sql.DB, fence *sqlfence.Fence) error {
	if err := fence.CreateTable(ctx, db); err != nil {
		return fmt.Errorf("create the table of fences: %w", err)
	}
	const entries = "CREATE TABLE IF NOT EXISTS entries (account TEXT NOT NULL, payment TEXT NOT NULL UNIQUE, amount INTEGER NOT NULL)"
	if _, err := db.ExecContext(ctx, entries); err != nil {
		return fmt.Errorf("create the table of entries: %w", err)
	}
	return nil
}
