// Package faults is the kinds of harm that a run does to its world, and what each
// may cost, which is stated before it is done.
//
//	process    members are killed, stopped, ended and started again
//	client     the same for client processes
//	network    packets vanish: between members, and between clients and members
//	link       the proxies before the members reset, hold, lose and delay
//	cluster    what operators do: moves, upkeep, replacements, restores
//	disk       power cuts, full disks, and syncs that fail, lie or take long
//	cpu        there is too little of it
//	clock      wall clocks jump
//	lock       leases are revoked, claims are broken and deleted
//	resource   PostgreSQL and Redis are killed and stopped
//
// # Rules for a kind
//
// It does the harm, keeps it up for Run.For, undoes all of it, and nothing else,
// whatever happens meanwhile and also when its context ends; then it waits until
// what it disturbed is in order again. Another kind may be at work at the same
// time, if the two take nothing in common (Kind.Takes); so a cluster without a
// leader is nothing to give up at: it waits, and tries again, until its context ends.
//
// # Costs
//
// A cost is what may be lost at worst: Service from the bounds in bounds.go, and
// Sessions wherever a client can be without an answer for 0.8 s, since with a TTL
// of 2 s that is all it has (TTL − 0.5 s − TTL/3). One member that does not answer is
// not enough: no attempt at a renewal waits for longer than a third of what is left,
// and the next one asks another. (Two kinds at a time may strike two members: then the
// checks let sessions go, whatever each has stated.) A kind that says nothing of sessions leaves those of
// everybody who lives and is not a victim alone.
package faults
