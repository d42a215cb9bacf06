// Package history is what happened in a run: what clients asked and were told,
// and which faults there were meanwhile.
//
// Each process writes its own file, one JSON object a line, each with one
// write(2), so that what a killed process has written is there. A client writes
// a line before an operation is sent ("call") and one when its outcome is known
// ("return"). A call without a return has an unknown outcome.
//
// All times are of one clock, CLOCK_BOOTTIME, which every process of a machine
// shares, in whatever namespace of the network, and which nobody can set.
//
// # Values
//
// Every write leaves an identity of its own behind, "c3.1-17": the 17th operation
// of the first life of client 3. A reader tells which identity it saw, so it is
// known exactly which write each read shows, and which write overwrote which.
// Four kinds of traffic, under a guard each:
//
//	counter   one register, key "n": read it, write the next
//	list      registers "chapter" (which list is current) and "list/<k>", up to 32
//	          identities in the order in which they were appended
//	set       keys "e/<identity>", put and deleted singly, listed together
//	bank      registers "account/<i>" with balances and "last", written together in
//	          one step: whoever reads all sees a constant sum
package history
