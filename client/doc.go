// Package client takes locks in a fencelock cluster, or in any etcd of version
// 3.5 or later, and hands out the fencing tokens that keep an overtaken holder
// from doing harm.
//
//	c, err := client.New(client.Config{Endpoints: []string{"127.0.0.1:2379"}})
//	…
//	err = c.Do(ctx, "accounts/42", func(ctx context.Context, l *client.Lock) error {
//		balance, err := l.KV().Get(ctx, "balance")
//		…
//		_, err = l.KV().Put(ctx, "balance", changed)
//		return err
//	})
//
// # Sessions, claims, locks
//
// A [Session] is a lease in the cluster, its renewals, and a local deadline. A
// client makes one when it first needs it and replaces it when it is lost. A
// claim is one entry in a lock's queue: a key that is bound to the session's
// lease and never rewritten. Its create revision is the fencing token. The oldest
// claim of a queue holds the lock; a [Lock] is the handle of one claim that does.
//
//	              enqueue                    the claim ahead ends
//	Lock(ctx) ───────────────▶ waiting ──────────────────────────▶ held ──▶ Unlock ──▶ ended
//	    │    nobody is ahead ─────│──────────────────────────────▶  │                (ErrNotHeld)
//	    │                         │ ctx ends: claim removed         │
//	    ▼                         ▼                                 ▼
//	ErrUnavailable      ctx's error, ErrLocked          lease or claim gone, or the deadline
//	                    lease or claim gone: ErrLost    has passed: ended (ErrLost)
//
// An ended handle never comes back to life. Locking again gives a new one, with a
// higher token.
//
// # Kinds of locks
//
//	Lock, TryLock, Do   one holder at a time, with a fencing token
//	LockShared          several readers; no token, but reads behind the fence
//	LockAll             several locks together, under one token; losing one loses all
//	Semaphore           as many holders as its limit; no tokens, since they do not
//	                    exclude each other
//	Campaign            a Lock whose claim carries a value; see Leader and Observe
//
// Goroutines of one session that want the same lock stand in a local line, and
// only the head of it has a claim in the cluster. Inspect, Locks and Watch show who
// holds and who waits; Break takes a lock away.
//
// # How long a lock may be trusted
//
// Until the session's deadline: when the last successful renewal was sent, plus
// the TTL, minus a margin of 10 % (at least 500 ms). It is counted from the send
// and not from the reply, on a clock that goes on while the machine sleeps, and
// needs no network to pass. When it does, Done closes, Err turns to [ErrLost], and
// every context made by [Lock.Bind] is cancelled. Err looks at the clock itself,
// so it is right the moment a process wakes up.
//
// # What is promised
//
//   - Tokens of a lock rise in the order of its grants.
//   - While clocks run at about the same rate, a holder learns of its loss before
//     anybody else can hold. A break or a revoked lease is noticed within about a
//     second.
//   - Behind a fence (see [Lock.KV] and package fencing) an acknowledged write is
//     never lost to an older holder, whatever pauses, dies or is cut off.
//   - Claims are served first come, first served, together with those of etcd's
//     own concurrency.Mutex and "etcdctl lock" on the same prefix; so are the
//     goroutines of a local line, among themselves.
//   - A call that is cancelled, times out or fails leaves no claim: what cannot be
//     removed at once is removed by the session later, and the session's end
//     removes everything.
//
// # What is not
//
//   - Mutual exclusion outside a fence. A process can pause right after it has
//     looked at Err, and write when it wakes. No lock service can prevent that.
//   - Progress without a majority of the members.
//   - A dead holder's lock sooner than its TTL plus about a second. After a change
//     of leader leases start anew: up to TTL + election + TTL.
//
// # Goroutines
//
// A session has two goroutines, one for renewals and one that looks at the clock,
// one for each call that waits, and one for each lock that is held for longer than
// a moment. All of them end with [Session.Close] or [Client.Close], which wait for
// them. A watch that a wait has used is kept for the next one, for three seconds, and
// at most sixteen of them in a session; they end with it.
package client
