package sqlfence

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// mustKeep refuses a table of fences that was there before and cannot be one: whose
// tokens are kept as floating-point numbers, which lose digits beyond 2^53, whose
// guards are compared without regard to case, or whose engine neither locks rows
// nor rolls back.
func (f *Fence) mustKeep(ctx context.Context, tx *sql.Tx) error {
	s := site{ctx: ctx, tx: tx, dialect: f.config.Dialect, fence: f.config.Table}
	switch s.dialect {
	case PostgreSQL:
		const types = `SELECT format_type(atttypid, NULL) FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attname = $2 AND NOT attisdropped`
		return s.mustBe(types, s.dialect.quote(s.fence), []string{"bigint"}, []string{"text", "character varying"})
	case MySQL:
		t, err := onMySQL(s.itself())
		if err != nil {
			return err
		}
		const types = `SELECT data_type FROM information_schema.columns
WHERE CONCAT(table_schema, '.', table_name) = ? AND column_name = ?`
		table := t.(mysqlTable)
		return s.mustBe(types, table.schema+"."+table.name, []string{"bigint"}, []string{"varbinary"})
	default:
		const types = `SELECT lower(type) FROM pragma_table_info(?1) WHERE name = ?2`
		schema, table, found := strings.Cut(s.fence, ".")
		if !found {
			schema, table = "main", s.fence
		}
		return s.mustBe(strings.Replace(types, "?1", "?1, '"+schema+"'", 1), table, []string{"integer", "bigint", "int"}, []string{"text"})
	}
}

// itself is the site of the table of fences, as if it were to be protected.
func (s site) itself() site {
	s.table = s.fence
	return s
}

// mustBe compares the types of the two columns that make a fence.
func (s site) mustBe(query, table string, token, guard []string) error {
	for column, good := range map[string][]string{"token": token, "guard": guard} {
		types, err := s.names(query, table, column)
		if err != nil {
			return err
		}
		if len(types) != 1 {
			return unsupported(fmt.Sprintf("the table is there, and has no column %s", column))
		}
		if !slices.Contains(good, strings.ToLower(types[0])) {
			return unsupported(fmt.Sprintf("the table is there, and its column %s is of type %s; want %s", column, types[0], good[0]))
		}
	}
	return nil
}
