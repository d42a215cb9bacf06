package sqlfence

// sqliteStatements. As the first statement of a transaction the upsert takes
// SQLite's write lock, and waits for it as long as busy_timeout says. A
// transaction that has read before it writes does not wait: it fails with
// SQLITE_BUSY, at once, if anybody has written since.
func sqliteStatements(table string) statements {
	highest := `SELECT token FROM ` + table + ` WHERE guard = ?`
	return statements{
		Statements: Statements{
			Schema: `CREATE TABLE IF NOT EXISTS ` + table + ` (
	guard TEXT NOT NULL PRIMARY KEY CHECK (typeof(guard) = 'text'),
	token INTEGER NOT NULL CHECK (typeof(token) = 'integer' AND token > 0),
	writer INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID`,
			Advance: `INSERT INTO ` + table + ` (guard, token) VALUES (?, ?)
ON CONFLICT (guard) DO UPDATE SET token = excluded.token WHERE token <= excluded.token`,
			Highest: highest,
		},
		glance: highest,
		marking: `INSERT INTO ` + table + ` (guard, token, writer) VALUES (?, ?, 1)
ON CONFLICT (guard) DO UPDATE SET token = excluded.token, writer = 1 WHERE token <= excluded.token`,
		unmark: `UPDATE ` + table + ` SET writer = 0 WHERE guard = ?`,
		repair: `UPDATE ` + table + ` SET token = ? WHERE guard = ? AND token = ?`,
	}
}
