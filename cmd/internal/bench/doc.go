// Package bench measures a cluster that somebody uses: how long its locks and its
// fenced store take, and how many operations it carries.
//
// # What is measured
//
//	lock      each client takes a lock of its own and gives it back
//	handover  all clients want one lock; from one's Unlock to the next one's Lock
//	shared    all clients take one lock together, and give it back
//	put, get  each client holds a lock and writes, or reads, behind its fence
//
// Each client is one as other processes have it, with a connection and a session of
// its own. One operation of each goes unmeasured: it makes the session.
//
// # What is left behind
//
// Nothing, however [Run] ends, as long as the cluster can be asked: locks are given
// back, records and fences deleted, all of it under a prefix that no other run has.
// Out of reach, claims end with their TTL; the records stay, and the error names
// the prefix.
package bench
