package sqlfence

// mysqlStatements. Guards are bytes: MySQL's text compares "a" equal to "A" and
// to "a ". LAST_INSERT_ID(x) sends x back with the answer, so that one round trip
// tells where the fence stands; rows affected would not tell an equal token from
// a stale one. VALUES() is old style, but the only one that MariaDB knows.
//
// The upsert locks the row whatever comes of it, and reads no snapshot: a
// transaction that begins with it takes its snapshot after it has the lock.
func mysqlStatements(table string) statements {
	const higher = `token = LAST_INSERT_ID(GREATEST(token, VALUES(token)))`
	highest := `SELECT token FROM ` + table + ` WHERE guard = ?`
	return statements{
		Statements: Statements{
			Schema: `CREATE TABLE IF NOT EXISTS ` + table + ` (
	guard VARBINARY(255) NOT NULL PRIMARY KEY,
	token BIGINT NOT NULL CHECK (token > 0),
	writer BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE = InnoDB`,
			Advance: `INSERT INTO ` + table + ` (guard, token) VALUES (?, LAST_INSERT_ID(?))
ON DUPLICATE KEY UPDATE ` + higher,
			Highest: highest + ` FOR UPDATE`,
		},
		glance: highest,
		// Assignments run from left to right: writer still sees the old token.
		marking: `INSERT INTO ` + table + ` (guard, token, writer) VALUES (?, LAST_INSERT_ID(?), CONNECTION_ID())
ON DUPLICATE KEY UPDATE writer = IF(VALUES(token) >= token, VALUES(writer), writer), ` + higher,
		unmark:    `UPDATE ` + table + ` SET writer = 0 WHERE guard = ?`,
		repair:    `UPDATE ` + table + ` SET token = ? WHERE guard = ? AND token = ?`,
		fenceIsID: true,
		literals:  true,
	}
}
