// Package kv is the fenced key-value layer: data in etcd that only the latest
// holder of a lock can read and write.
//
// # One shape for every operation
//
// Each guard has a fence, a key that holds the highest token admitted so far. A
// handle remembers the fence's value and its mod revision m (0: no fence yet),
// and each operation is one flat transaction:
//
//	If    ModRevision(fence) = m   and, where m > 0, Value(fence) = the value known
//	      CreateRevision(claim) = token
//	Then  [Put fence = token, if its value is lower]   the operations
//	Else  Get fence, Get claim
//
// The optional put claims the fence. It happens with the handle's first
// operation, and a read counts: from then on nobody older can write or read
// here, not even between this holder's read and its first write. Afterwards
// reads are read-only transactions, without an entry in the Raft log.
//
// If the comparison fails, the Else branch says why:
//
//	the fence is higher              *fencing.StaleError, also when the claim is gone
//	the claim is gone                fencing.ErrNotHeld
//	the fence has another revision   someone moved it, another handle of the same
//	                                 token perhaps: take that over, try again
//
// In none of these cases was anything written.
//
// # Writes whose answer never came
//
// A request that timed out may still be committed a second later, after the
// holder's next, acknowledged write, under the same token and the same claim.
// That is why operations run under m and not under the token alone. When a
// write's fate is unknown ([fencing.ErrUncertain]), a barrier puts the fence
// again: m changes, and the lost request cannot land any more. The barrier runs
// inside the call while its context allows and in the background after that;
// later operations of the handle wait for it. Writes that claim the fence need
// none, since the next claim changes m by itself, and reads never do.
//
// # Two kinds of handle
//
// A live handle belongs to a lock that its client holds ([Live]): the client has
// seen its claim at the head of the queue. A bare one ([New]) has been handed a
// sequencer, by a request for example. It claims the fence only if the claim is
// alive, exclusive, and nobody alive stands before it, all in the same
// transaction; a token that was never issued, or never granted, moves nothing.
//
// # What is not promised
//
// A reader with [Peek], or with etcd's own client, is outside the fence. The
// rights of etcd's users can keep guards apart, not an honest from a dishonest
// user of one guard.
package kv
