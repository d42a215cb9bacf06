package sqlfence

import (
	"fmt"
	"strings"
)

// mysqlTable is a table in its schema.
type mysqlTable struct {
	site
	schema, name string
	fences       string // the table of fences, quoted, with its schema
}

func onMySQL(s site) (protector, error) {
	var current string
	if err := s.tx.QueryRowContext(s.ctx, "SELECT COALESCE(DATABASE(), '')").Scan(&current); err != nil {
		return nil, err
	}
	split := func(table string) (string, string) {
		if schema, name, found := strings.Cut(table, "."); found {
			return schema, name
		}
		return current, table
	}
	t := mysqlTable{site: s}
	t.schema, t.name = split(s.table)
	schema, name := split(s.fence)
	t.fences = s.dialect.quote(schema + "." + name)
	for _, table := range [][2]string{{schema, name}, {t.schema, t.name}} {
		if err := s.inInnoDB(table[0], table[1]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// inInnoDB refuses tables of engines that do not roll back.
func (s site) inInnoDB(schema, table string) error {
	engines, err := s.names("SELECT COALESCE(engine, 'no') FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", schema, table)
	switch {
	case err != nil:
		return err
	case len(engines) == 0:
		return fmt.Errorf("no table %s in %s", table, schema)
	case !strings.EqualFold(engines[0], "InnoDB"):
		return unsupported(fmt.Sprintf("%s is kept by the %s engine, which does not roll back", table, engines[0]))
	}
	return nil
}

// mysqlCheck: writer is set by Do alone, and never committed, so that whoever sees
// his own connection there is in the transaction that has passed the fence.
const mysqlCheck = `IF NOT EXISTS (SELECT 1 FROM @fences WHERE guard = @guard AND writer = CONNECTION_ID()) THEN
	SIGNAL SQLSTATE '@state' SET MESSAGE_TEXT = 'fencelock: refused: this transaction has not passed the fence of the row';
END IF;
`

func (t mysqlTable) triggers(p Protection) ([]trigger, error) {
	if err := t.hasColumn(p.Column); err != nil {
		return nil, err
	}
	if err := t.changesAlone(); err != nil {
		return nil, err
	}
	var all []trigger
	for _, on := range []struct {
		event string
		rows  []string
	}{{"INSERT", []string{"NEW"}}, {"UPDATE", []string{"OLD", "NEW"}}, {"DELETE", []string{"OLD"}}} {
		body := ""
		for _, row := range on.rows {
			body += strings.NewReplacer("@fences", t.fences, "@guard", t.guard(p, row), "@state", Unfenced).Replace(mysqlCheck)
		}
		all = append(all, named("CREATE TRIGGER IF NOT EXISTS "+t.dialect.quote(t.schema)+"."+ownName+
			" AFTER "+on.event+" ON "+t.dialect.quote(t.schema+"."+t.name)+" FOR EACH ROW BEGIN\n"+body+"END"))
	}
	return all, nil
}

// changesAlone refuses a table whose rows can be changed through a foreign key:
// such changes run no triggers.
func (t mysqlTable) changesAlone() error {
	keys, err := t.names(`SELECT constraint_name FROM information_schema.referential_constraints
WHERE constraint_schema = ? AND table_name = ?
AND (delete_rule NOT IN ('RESTRICT', 'NO ACTION') OR update_rule NOT IN ('RESTRICT', 'NO ACTION'))`, t.schema, t.name)
	if err != nil || len(keys) == 0 {
		return err
	}
	return unsupported(fmt.Sprintf("through the foreign key %s a change of another table changes this one, and runs no triggers here", keys[0]))
}

// guard compares as UTF-8, whatever the column's character set.
func (t mysqlTable) guard(p Protection, row string) string {
	if p.Column == "" {
		return "CONVERT('" + p.Guard + "' USING utf8mb4)"
	}
	return "CONVERT(CONCAT('" + p.Guard + "', " + row + "." + t.dialect.quote(p.Column) + ") USING utf8mb4)"
}

func (t mysqlTable) present() ([]string, error) {
	return t.names(`SELECT trigger_name FROM information_schema.triggers
WHERE event_object_schema = ? AND event_object_table = ? AND LEFT(trigger_name, ?) = ?`, t.schema, t.name, len(triggerPrefix), triggerPrefix)
}

func (t mysqlTable) remove(trigger string) error {
	return execute(t.ctx, t.tx, "DROP TRIGGER IF EXISTS "+t.dialect.quote(t.schema)+"."+trigger)
}
