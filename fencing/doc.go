// Package fencing holds the words that a lock service and the resources it
// protects have in common: tokens, sequencers, and the answers of a fence.
//
// # Why there is a fence
//
// A process that pauses past its lease wakes up still believing that it holds
// the lock. No lock service can prevent that from its own side: the resource
// has to refuse. So every grant of a lock carries a [Token] that rises with
// every grant, and a resource remembers, for each guard, the highest token it
// has admitted. That memory, and the check against it, is the fence:
//
//	        token 33                      token 34
//	A ──────────────── pause ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ write(33) ──▶ refused: [StaleError]
//	B                        ── read(34) ── write(34) ──▶      the fence stands at 34
//
// The first operation of a holder raises the fence, and a read counts: B reads
// before it writes, and a write of A that landed in between would be lost.
//
// # The words
//
//   - A guard is the name of the lock that protects a set of keys, rows or files.
//   - A [Sequencer] is a lock's name and a token, "accounts/42#1234". It travels
//     with a request to the resource, by hand or in a context ([NewContext]).
//   - Equal tokens are admitted, lower ones refused ([ErrStale]), and so are a
//     missing one ([ErrMissing]), a malformed one ([ErrMalformed]) and one of
//     another lock ([ErrWrongGuard]).
//
// # What is promised
//
// Behind a fence an acknowledged write is never lost to an older holder. That
// holds as long as the resource keeps its fence as long as its data, and checks
// and writes in one atomic step. Mutual exclusion outside a fence is not
// promised, by this package or by any lock service.
//
// This package imports the standard library only.
package fencing
