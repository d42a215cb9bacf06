// Command chaos lets faults happen to a real cluster under traffic, and checks
// that behind a fence nothing is lost:
//
//	go run ./test/chaos -minutes 5 -seed 7 -html report.html
//	go run ./test/chaos -list                         the kinds of faults, and what each may cost
//	go run ./test/chaos -faults 'SIGSTOP of a client' -targets control,kv
//
// A run is made of parts that know little of each other:
//
//	world      a cluster of three, its disks and networks, client processes, PostgreSQL, Redis
//	traffic    what clients do: counters, lists, sets, banks, each behind a lock
//	faults     kinds of faults: how each is done and undone, and what it may cost
//	nemesis    which of them when: each alone, then two at a time
//	history    what clients and faults have written down
//	checks     what must be true of that
//	report     how it is told
//
// Faults come in rounds. In each, one or two faults are done, held and undone; then
// the members must settle, and every target must be served again, before the
// next round begins:
//
//	faults done ── held ── undone ── members ready ── an operation acknowledged on each target ──▶ next round
//
// In the end every fault is undone, the clients end in good order, a last one reads
// everything, and the checks judge what was written down. A run fails if a check
// does, if a fault could not be done as it was meant, or if service did not come back.
// The same seed brings the same faults in the same order. Their timing is the
// machine's.
//
// Root gets all kinds. Others get loopback addresses and proxies, and are told
// which kinds were left out.
package main
