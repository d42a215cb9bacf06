package sqlfence_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// The published statements, by pgx without database/sql.
func TestStatementsByPgx(t *testing.T) {
	db := open(t, sqlfence.PostgreSQL)
	f, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.PostgreSQL})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	sql := f.Statements()
	for range 2 {
		if _, err := conn.Exec(ctx, sql.Schema); err != nil {
			t.Fatal(err)
		}
	}
	var stands int64
	if err := conn.QueryRow(ctx, sql.Highest, guard).Scan(&stands); !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("before the first token: got %v, want no row", err)
	}
	for _, c := range []struct{ token, affected, stands int64 }{{33, 1, 33}, {33, 1, 33}, {1<<53 + 1, 1, 1<<53 + 1}, {1 << 53, 0, 1<<53 + 1}} {
		result, err := conn.Exec(ctx, sql.Advance, guard, c.token)
		if err != nil || result.RowsAffected() != c.affected {
			t.Errorf("advance to %d: %d rows, %v, want %d", c.token, result.RowsAffected(), err, c.affected)
		}
		if err := conn.QueryRow(ctx, sql.Highest, guard).Scan(&stands); err != nil || stands != c.stands {
			t.Errorf("after %d the fence stands at %d, %v, want %d", c.token, stands, err, c.stands)
		}
	}
}

// The example of pgx, in the real database.
func TestExampleOfPgx(t *testing.T) {
	db := open(t, sqlfence.PostgreSQL)
	advance := db.fence(t, sqlfence.Config{}).Statements().Advance
	db.exec(t, "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT)", "INSERT INTO accounts VALUES (42, 100)")
	conn, err := pgx.Connect(t.Context(), db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, c := range []struct {
		token fencing.Token
		want  error
	}{{34, nil}, {33, fencing.ErrStale}, {34, nil}, {0, fencing.ErrMalformed}} {
		if err := withdrawByPgx(t.Context(), conn, advance, fencing.Sequencer{Lock: guard, Token: c.token}); !errors.Is(err, c.want) {
			t.Errorf("token %v: got %v, want %v", c.token, err, c.want)
		}
	}
	if got, want := db.value(t, "SELECT balance FROM accounts"), "80"; got != want {
		t.Errorf("the balance is %s, want %s", got, want)
	}
}

// MySQL's answer is the last insert id; rows affected would mislead.
func TestStatementsOfMySQL(t *testing.T) {
	db := open(t, sqlfence.MySQL)
	sql := db.fence(t, sqlfence.Config{}).Statements()
	for _, c := range []struct{ token, id int64 }{{33, 33}, {33, 33}, {34, 34}, {33, 34}, {1<<63 - 1, 1<<63 - 1}, {34, 1<<63 - 1}} {
		result, err := db.Exec(sql.Advance, guard, c.token)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := result.LastInsertId(); err != nil || id != c.id {
			t.Errorf("advance to %d: last insert id %d, %v, want %d", c.token, id, err, c.id)
		}
	}
}
