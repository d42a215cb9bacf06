package sqlfence

// postgresStatements. The collation "C" compares bytes, and no upgrade of the C
// library changes it under the index. Column xact names the transaction that
// advanced last, for Protect; all 64 bits, so that it never comes again.
//
// An equal token updates its row too. Under REPEATABLE READ that is what makes
// the next holder, if it has read before it advanced, fail to serialize.
func postgresStatements(table string) statements {
	advance := `INSERT INTO ` + table + ` AS fence (guard, token, xact) VALUES ($1, $2, pg_current_xact_id())
ON CONFLICT (guard) DO UPDATE SET token = excluded.token, xact = excluded.xact
WHERE fence.token <= excluded.token`
	highest := `SELECT token FROM ` + table + ` WHERE guard = $1`
	return statements{
		Statements: Statements{
			Schema: `CREATE TABLE IF NOT EXISTS ` + table + ` (
	guard text COLLATE "C" PRIMARY KEY,
	token bigint NOT NULL CHECK (token > 0),
	xact xid8 NOT NULL
)`,
			Advance: advance,
			Highest: highest,
		},
		glance:  highest,
		marking: advance,
		repair:  `UPDATE ` + table + ` SET token = $1 WHERE guard = $2 AND token = $3`,
		// The key is an arbitrary constant, the same in every client.
		turn: `SELECT pg_advisory_xact_lock(7310575183467340652)`,
	}
}
