// Package queue knows the rules of a lock's queue: from the claims that stand in
// it to who holds, who waits, and for whom. It is pure: no network, no time, and
// it does not know where the claims come from.
//
// Claims are ordered by their tokens. The oldest claim holds; if it is shared, so
// does every other shared claim with no exclusive one before it:
//
//	token   33        34       37       41
//	mode    shared    shared   excl.    shared
//	        holds     holds    waits    waits
//	                  ◀─────── for 34,  for 37
package queue

import (
	"cmp"
	"slices"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Claim is one entry in a lock's queue.
type Claim struct {
	keys.ClaimValue // what the claim says about itself

	Lock  string        // the lock's name
	Key   string        // the claim's key in etcd
	Token fencing.Token // the revision at which the claim was created
	Lease int64         // the session's lease; 0: it never ends by itself
}

// Exclusive reports whether the claim, once it holds, holds alone.
func (c Claim) Exclusive() bool { return c.Mode != keys.SharedMode }

// Sort puts claims into the order of their queue, the oldest first.
func Sort(claims []Claim) {
	slices.SortFunc(claims, func(a, b Claim) int { return cmp.Compare(a.Token, b.Token) })
}

// Split divides a sorted queue into those who hold the lock and those who wait.
func Split(sorted []Claim) (holders, waiters []Claim) {
	n := 0
	for n < len(sorted) && (n == 0 || !sorted[n].Exclusive() && !sorted[0].Exclusive()) {
		n++
	}
	return sorted[:n:n], sorted[n:]
}

// Ahead returns the claim whose end a claim of the given token has to await
// next, in a sorted queue: for an exclusive claim the last one before it, for a
// shared one the last exclusive one before it. There is none if it holds.
func Ahead(sorted []Claim, token fencing.Token, exclusive bool) (Claim, bool) {
	for _, c := range slices.Backward(sorted) {
		if c.Token < token && (exclusive || c.Exclusive()) {
			return c, true
		}
	}
	return Claim{}, false
}
