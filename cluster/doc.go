// Package cluster runs one member of a fencelock cluster: an embedded etcd
// server with settings that are safe for locks. It is the only package that
// links etcd's server; clients do not import it.
//
// # Life of a member
//
//	Start ──▶ starting ──ready──▶ running ──Close──▶ stopped
//	             │                   │
//	             └──error──▶ ∅       └──Err: stopped by itself──Close──▶ stopped
//
// On the first start of a cluster of several, its members first agree that they
// all are new; package bootstrap says how. A folder with data starts at once.
//
// Start returns a member that has answered a linearizable read, or an error
// and nothing left behind, within [Config.StartTimeout]. Clients that connect
// earlier wait: no request is served before the member is ready, not even while
// etcd below is already up.
//
// Close hands leadership to another member first, so that a planned stop costs
// no election, lets the requests in flight finish, and ends watches and
// keep-alives with an error that clients take as "ask another member".
//
// # What is promised, and what is not
//
//   - A data folder is used by one member at a time, and only by the member it
//     was made for: [ErrInUse], [ErrForeignFolder].
//   - A member whose data was lost does not begin a second history: [ErrReplace],
//     [ErrInterrupted]. A single node that lost its whole folder has no one to tell
//     it; for that there is [Config.TokenFloor].
//   - The write-ahead log is synced before anything is acknowledged.
//   - The data is compared with the other members' before a restarted member
//     serves clients, and again after each compaction.
//   - Not promised: that the process survives. When etcd finds in a running
//     member that it cannot go on (a failed fsync, a broken database), the
//     process ends, as etcd's does: going on could acknowledge what is not
//     stored. While a member is still starting, the same is an error of Start.
//
// The folder holds etcd's data in member/, the file member.json that says whose
// it is, and the file lock. Beside them lie, from the first start, origin.json with
// the folder's birth and token floor, decision.json with what the members agreed on,
// and ran, which says that there was data once.
package cluster
