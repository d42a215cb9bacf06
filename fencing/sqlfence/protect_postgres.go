package sqlfence

import (
	"fmt"
	"strings"
)

// postgresTable is a table by its full name, whatever the search path.
type postgresTable struct {
	site
	full   string // the protected table, quoted
	fences string // the table of fences, quoted
	schema string // the protected table's, quoted
}

func onPostgres(s site) (protector, error) {
	t := postgresTable{site: s}
	const resolve = `SELECT format('%I.%I', n.nspname, c.relname), quote_ident(n.nspname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::text::regclass`
	var ignored string
	if err := s.tx.QueryRowContext(s.ctx, resolve, s.dialect.quote(s.fence)).Scan(&t.fences, &ignored); err != nil {
		return nil, err
	}
	err := s.tx.QueryRowContext(s.ctx, resolve, s.dialect.quote(s.table)).Scan(&t.full, &t.schema)
	return t, err
}

// postgresRows runs after each row, when no other trigger can change it any more.
//
// xact is the number of the transaction that wrote the fence's row: savepoints do
// not change it, and rolling back to one takes the writing back too. In a database
// that was restored from a dump old numbers can come again; but then the restore
// has written the row, before this transaction: its age is above 0.
const postgresRows = `CREATE OR REPLACE FUNCTION @function() RETURNS trigger LANGUAGE plpgsql AS $fencelock$
DECLARE
	guards text[];
	missing text;
BEGIN
	IF TG_OP <> 'INSERT' THEN
		guards := array_append(guards, @old);
	END IF;
	IF TG_OP <> 'DELETE' THEN
		guards := array_append(guards, @new);
	END IF;
	FOREACH missing IN ARRAY guards LOOP
		PERFORM FROM @fences WHERE guard = missing AND xact = pg_current_xact_id() AND age(xmin) <= 0;
		IF NOT FOUND THEN
			RAISE EXCEPTION USING ERRCODE = '@state',
				MESSAGE = format('fencelock: %s of %I is refused: this transaction has not passed the fence of %L', TG_OP, TG_TABLE_NAME, missing),
				HINT = 'Take that lock, and write in sqlfence.Do, or after Advance.';
		END IF;
	END LOOP;
	RETURN NULL;
END $fencelock$`

const postgresTruncate = `CREATE OR REPLACE FUNCTION @function() RETURNS trigger LANGUAGE plpgsql AS $fencelock$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '@state',
		MESSAGE = format('fencelock: TRUNCATE of %I is refused: it names no rows, and so no guard', TG_TABLE_NAME),
		HINT = 'Use DELETE.';
END $fencelock$`

func (t postgresTable) triggers(p Protection) ([]trigger, error) {
	if err := t.hasColumn(p.Column); err != nil {
		return nil, err
	}
	if err := t.hasNoHeirs(); err != nil {
		return nil, err
	}
	function := t.schema + "." + ownName
	fill := strings.NewReplacer("@function", function, "@fences", t.fences, "@state", Unfenced,
		"@old", t.guard(p, "OLD"), "@new", t.guard(p, "NEW"))
	create := func(when, each string) string {
		return "CREATE TRIGGER " + ownName + " " + when + " ON " + t.full + " FOR EACH " + each + " EXECUTE FUNCTION " + function + "()"
	}
	return []trigger{
		named(fill.Replace(postgresRows), create("AFTER INSERT OR UPDATE OR DELETE", "ROW")),
		named(fill.Replace(postgresTruncate), create("BEFORE TRUNCATE", "STATEMENT")),
	}, nil
}

// hasNoHeirs refuses a table that others inherit from: statements about this one
// change their rows, and run no triggers of this one. Partitions do.
func (t postgresTable) hasNoHeirs() error {
	heirs, err := t.names(`SELECT c.oid::regclass::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = $1::text::regclass AND NOT c.relispartition`, t.full)
	if err != nil || len(heirs) == 0 {
		return err
	}
	return unsupported(fmt.Sprintf("table %s inherits from this one, and a change of its rows by way of this one runs no triggers here", heirs[0]))
}

// guard is the expression for a row's guard; NULL if its column is.
func (t postgresTable) guard(p Protection, row string) string {
	if p.Column == "" {
		return "'" + p.Guard + "'"
	}
	return "'" + p.Guard + "' || " + row + "." + t.dialect.quote(p.Column) + "::text"
}

// present leaves out what a partition has from its parent.
func (t postgresTable) present() ([]string, error) {
	return t.names(`SELECT tgname FROM pg_trigger
WHERE tgrelid = $1::text::regclass AND NOT tgisinternal AND tgparentid = 0 AND starts_with(tgname, $2)`, t.full, triggerPrefix)
}

// remove drops the trigger and its function, unless a table that was once renamed
// still has it.
func (t postgresTable) remove(trigger string) error {
	if err := execute(t.ctx, t.tx, "DROP TRIGGER "+trigger+" ON "+t.full); err != nil {
		return err
	}
	function := t.schema + "." + trigger
	users, err := t.names(`SELECT tgname FROM pg_trigger WHERE tgfoid = $1::text::regproc`, function)
	if err != nil || len(users) > 0 {
		return err
	}
	return execute(t.ctx, t.tx, "DROP FUNCTION "+function+"()")
}
