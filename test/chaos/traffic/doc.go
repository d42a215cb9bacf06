// Package traffic is what one client process of the chaos run does: it takes locks,
// reads and writes what lies behind them, and writes down everything that it calls
// and what came of it.
//
// A process has one client, and for each target and workload one task, which takes
// the lock TARGET/WORKLOAD/0 again and again. All processes contend for the same
// locks. Under one hold a task does a few rounds:
//
//	read ── think ── write        a pause has something to hit: the write comes late
//
// # Targets
//
//	control  one JSON file for each guard, replaced by rename; no fence. It is a naive
//	         application: it reads the file once in a hold, since nobody else can
//	         change it, and does not ask whether it still holds the lock
//	kv       fencing/kv, by the lock's own handle, or by one that was handed only the
//	         sequencer and knows no deadline
//	sql      sqlfence, a transaction for each operation; the table is under Protect
//	redis    redisfence, a handle for each hold; some operations get one of their own, if
//	         no write of the hold is unknown
//	file     filefence, one JSON file for each guard
//
// Behind kv's own handle the client refuses by itself what comes too late. Everywhere
// else nothing looks at the clock: late operations reach the fence.
//
// # What is stored
//
// A register holds "NUMBER IDENTITY": the counter and the number that it has reached,
// the chapter, an account and its balance. A list holds its items as JSON, an element
// of the set itself. In a history, beside what package history says: a Get of the
// counter has the number in Sum; Add, Delete and List of the set have no Key.
//
// A document of control or file keeps the last four lists. The oldest goes when a new one
// begins; whoever begins that reads it before.
//
// # Unknown writes
//
// A write is Unknown if its fence says [fencing.ErrUncertain], and only then: each
// package promises that after any other error nothing was written. No Unknown write
// takes effect after a later operation of the same hold was acknowledged:
//
//	kv     the handle puts the fence anew before it goes on (the barrier), so that
//	       etcd refuses what is still under way; a hold uses one handle
//	sql    the transaction holds the row of its fence until it is decided, and the
//	       next one of the guard waits for that row
//	redis  requests carry the fence's version, and the handle changes that before it
//	       goes on; from then on a hold uses one handle, which sends each script once
//	file   the write has been done when the call returns, or never will be; what is
//	       unknown is whether it outlasts a power failure, until the next write
//
// For control the same holds, since rename(2) is over when it returns.
package traffic
