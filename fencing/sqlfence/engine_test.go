package sqlfence_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// A table of fences that was there before, kept by an engine that neither locks rows
// nor rolls back: check and write would not be one step.
func TestTableOfFencesInAnotherEngine(t *testing.T) {
	db := open(t, sqlfence.MySQL)
	db.exec(t, "CREATE TABLE fencelock_fence (guard VARBINARY(255) NOT NULL PRIMARY KEY, token BIGINT NOT NULL, writer BIGINT UNSIGNED NOT NULL DEFAULT 0) ENGINE = MyISAM")
	f, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.MySQL})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CreateTable(t.Context(), db); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "MyISAM") {
		t.Errorf("got %v, want ErrUnsupported that names the engine", err)
	}
	db.exec(t, "ALTER TABLE fencelock_fence ENGINE = InnoDB")
	if err := f.CreateTable(t.Context(), db); err != nil {
		t.Errorf("in InnoDB: %v", err)
	}
	if err := f.Do(as(t, 33), db, guard, func(*sql.Tx) error { return nil }); err != nil {
		t.Error(err)
	}
}

// A table that was there before, and would round a token, cut it off, or take one
// guard for another.
func TestTableOfFencesWithOtherColumns(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		good := map[sqlfence.Dialect][]string{
			sqlfence.PostgreSQL: {`guard text COLLATE "C" PRIMARY KEY`, "token bigint NOT NULL", ", xact xid8 NOT NULL"},
			sqlfence.MySQL:      {"guard VARBINARY(255) NOT NULL PRIMARY KEY", "token BIGINT NOT NULL", ", writer BIGINT UNSIGNED NOT NULL DEFAULT 0"},
			sqlfence.SQLite:     {"guard TEXT NOT NULL PRIMARY KEY", "token INTEGER NOT NULL", ", writer INTEGER NOT NULL DEFAULT 0"},
		}[db.dialect]
		for _, c := range []struct{ guard, token, names string }{
			{good[0], "token DOUBLE PRECISION NOT NULL", "token"},
			{good[0], "token SMALLINT NOT NULL", "token"},
			{good[0], "number BIGINT", "token"},
			{"guard CHAR(20) NOT NULL PRIMARY KEY", good[1], "guard"},
			{good[0], good[1], ""},
		} {
			db.exec(t, "DROP TABLE IF EXISTS fencelock_fence", "CREATE TABLE fencelock_fence ("+c.guard+", "+c.token+good[2]+")")
			f, err := sqlfence.New(sqlfence.Config{Dialect: db.dialect})
			if err != nil {
				t.Fatal(err)
			}
			err = f.CreateTable(t.Context(), db)
			if c.names != "" && (!errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "column "+c.names)) {
				t.Errorf("%s, %s: got %v, want ErrUnsupported that names the column %s", c.guard, c.token, err, c.names)
			} else if c.names == "" && err != nil {
				t.Errorf("made by hand as it should be: %v", err)
			}
		}
	})
}
