package sqlfence

import "strings"

type sqliteTable struct{ site }

func onSQLite(s site) (protector, error) {
	if strings.Contains(s.table+s.fence, ".") {
		return nil, unsupported("triggers of SQLite reach no other database file: name the tables without a schema")
	}
	// Takes the write lock, for which nobody waits who has read before.
	err := execute(s.ctx, s.tx, "UPDATE "+s.dialect.quote(s.fence)+" SET writer = 0 WHERE 1 = 0")
	return sqliteTable{s}, err
}

// sqliteCheck: writer is set by Do alone, and never committed. SQLite has one
// writer at a time, so whoever writes and sees the mark has set it himself.
//
// REPLACE removes rows, of whatever guard, and runs their triggers only if
// recursive_triggers is on.
const sqliteCheck = `CREATE TRIGGER IF NOT EXISTS ` + ownName + ` AFTER @event ON @table BEGIN
	SELECT RAISE(ABORT, 'fencelock: refused: this connection has recursive_triggers off, and REPLACE could pass a fence')
	WHERE NOT (SELECT recursive_triggers FROM pragma_recursive_triggers);
	SELECT RAISE(ABORT, 'fencelock: refused: this transaction has not passed the fence of the row')
	WHERE NOT EXISTS (SELECT 1 FROM @fences WHERE guard = @guard AND writer = 1)@other;
END`

func (t sqliteTable) triggers(p Protection) ([]trigger, error) {
	if err := t.hasColumn(p.Column); err != nil {
		return nil, err
	}
	var all []trigger
	for _, on := range []struct{ event, row, other string }{{"INSERT", "NEW", ""}, {"UPDATE", "OLD", "NEW"}, {"DELETE", "OLD", ""}} {
		fences, other := t.dialect.quote(t.fence), ""
		if on.other != "" {
			other = " OR NOT EXISTS (SELECT 1 FROM " + fences + " WHERE guard = " + t.guard(p, on.other) + " AND writer = 1)"
		}
		all = append(all, named(strings.NewReplacer("@event", on.event, "@table", t.dialect.quote(t.table),
			"@fences", fences, "@guard", t.guard(p, on.row), "@other", other).Replace(sqliteCheck)))
	}
	return all, nil
}

func (t sqliteTable) guard(p Protection, row string) string {
	if p.Column == "" {
		return "'" + p.Guard + "'"
	}
	return "'" + p.Guard + "' || CAST(" + row + "." + t.dialect.quote(p.Column) + " AS TEXT)"
}

func (t sqliteTable) present() ([]string, error) {
	return t.names(`SELECT name FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?) AND substr(name, 1, ?) = ?`,
		t.table, len(triggerPrefix), triggerPrefix)
}

func (t sqliteTable) remove(trigger string) error {
	return execute(t.ctx, t.tx, "DROP TRIGGER IF EXISTS "+trigger)
}
