// Package sqlfence fences what lies in PostgreSQL, MySQL, MariaDB or SQLite: a
// holder of a lock that has been overtaken can neither write there nor read.
//
//	err := fence.Do(ctx, db, "accounts/42", func(tx *sql.Tx) error {
//		… read and write through tx …
//	})
//
// It works over database/sql and imports no driver; [Fence.Statements] are for
// those who use pgx, gorm or sqlc.
//
// # How
//
// A table in the same database has one row for each guard: the highest token that
// was admitted. A transaction begins with an upsert that raises it, or refuses:
//
//	BEGIN
//	upsert: token := mine, if the row's is not higher     locks the row, until
//	read and write whatever the guard protects            the transaction ends
//	COMMIT                                                raised, and written
//
// The lock on the row makes check and write one step: between the upsert and the
// commit no other holder, older or newer, gets past it. A transaction that rolls
// back has raised nothing. Transactions under one guard run one after the other.
//
// # First things first
//
// The upsert must come before everything else in its transaction. If B reads,
// and A commits before B's upsert, A's update is not in what B has read:
//
//	MySQL, REPEATABLE READ (its default)   A's update is lost, even if B reads again: the
//	                                       snapshot is as old as B's first read
//	READ COMMITTED, anywhere               A's update is lost
//	PostgreSQL, above READ COMMITTED       B's upsert fails to serialize
//	SQLite                                 B's upsert fails, SQLITE_BUSY
//
// [Fence.Do] sees to it. With [Fence.Advance] and the statements it is your part.
// In SQLite a transaction that begins with the upsert waits for its turn as long as
// busy_timeout says, which some drivers leave at 0; use WAL, so that a commit does
// not meet a reader and fail.
//
// # Tokens of nobody
//
// Without Config.Verify a number that no lock service has issued is admitted like
// any other, and then locks out every holder to come. [Fence.Repair] is the way
// back. In psql, with the number that stands there and the present holder's token,
// which "fencelock inspect" shows:
//
//	UPDATE fencelock_fence SET token = 1234 WHERE guard = 'accounts/42' AND token = 9223372036854775807;
//
// # No pruning
//
// Rows are never removed. A guard without a row admits any token, and no age of
// a row tells that no older holder is left: a stopped process wakes when it
// likes. A row takes some fifty bytes.
//
// # Forgotten calls
//
// [Fence.Protect] puts triggers on a table that refuse whatever passed no fence.
// Not refused, and a matter of rights:
//
//   - PostgreSQL: who owns the table can disable its triggers, a superuser can set
//     session_replication_role, and so does logical replication where it applies
//     changes; TRUNCATE of one partition; tables that come to inherit from this one later;
//     who can write to the table of fences can pass for a holder.
//   - MySQL: TRUNCATE, which takes the right to DROP; foreign keys that are added later and
//     change rows of this table run no triggers.
//   - SQLite: who can write the file can drop the triggers. All who write to the
//     table need PRAGMA recursive_triggers, and are refused without.
//
// # What is not promised
//
// A fence is as durable as its database. A replica that takes over without the
// last commits, or a restored backup, brings back fences as old as its data, and
// lacks those of newer guards. With Config.Verify a holder that was overtaken
// since is still refused, unless its very token is where the fence stands again;
// without, it is admitted until the present holder comes. So after either, and
// before clients are let in, raise all fences to the lock cluster's revision, which
// "fencelock status" shows; then have the holders take their locks again:
//
//	UPDATE fencelock_fence SET token = 5678 WHERE token < 5678;
package sqlfence
