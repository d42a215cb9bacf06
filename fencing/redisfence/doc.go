// Package redisfence fences what lies in Redis: a holder of a lock that has been
// overtaken can neither write there nor read.
//
//	handle, err := fence.Open(ctx, "accounts/42")   // with the sequencer in ctx
//	err = handle.Set(ctx, "balance", []byte("90"), 0)
//
// It works with any client library that can run a script ([Eval]); go-redis and
// rueidis are in the examples.
//
// # How
//
//	fencelock:{accounts/42}            the fence: highest admitted token, and a version
//	fencelock:{accounts/42}/balance    data
//
// One Lua script checks the token, raises the fence, and does the operation, and
// Redis runs nothing else meanwhile. The braces keep all keys of a guard in one
// slot of a cluster. The fence is a key of its own, without a time to live: data
// may be deleted or expire.
//
// # Writes whose answer never came
//
// A write that was given up can still lie in a buffer somewhere, and reach Redis
// after the holder's next, acknowledged write on another connection. So requests
// carry the fence's version, and after a [fencing.ErrUncertain] the handle changes
// it before it does anything else: what is still under way is refused from then
// on. This needs two things of you: that a holder's work goes through one handle,
// and that the client library sends a script once. go-redis repeats requests
// unless it is told MaxRetries: -1.
//
// # What Redis does not promise
//
// A fence is as durable as its Redis, and some settings make it forget:
//
//   - Replicas are asynchronous: one that takes over may lack the last writes, and
//     the fence with them. WAIT makes that rarer, not impossible.
//   - Without appendonly, or with appendfsync everysec, a crash loses the last
//     seconds. appendfsync always loses nothing that was acknowledged.
//   - maxmemory-policy allkeys-…: fences are evicted like anything else. Under
//     volatile-… they never are, since they do not expire; under noeviction
//     Redis refuses writes when it is full, and nothing is lost.
//   - FLUSHDB, a key that something else deletes or gives a time to live, an old backup.
//
// A replica refuses every operation, reads too (READONLY), unless it was made
// writable by replica-read-only no. A master that was cut off and does not know
// that another took over cannot be told from the present one;
// min-replicas-to-write makes it refuse writes, and with them the first operation
// of a holder.
//
// The holder notices at its next operation: a handle that has claimed a fence and
// finds it lower gets [ErrLost]. Until then a holder that was overtaken is
// admitted again, if there is no Verify, or if its very token is where the fence
// stands. Where that must not happen, keep the data behind a fence that does not
// forget: sqlfence, or fencing/kv.
//
// # Tokens of nobody
//
// Without Config.Verify a number that no lock service has issued is admitted like
// any other, and then locks out every holder to come. [Fence.Repair] is the way
// back. By hand, with the present holder's token, which "fencelock inspect" shows:
//
//	redis-cli SET 'fencelock:{accounts/42}' '1234 0'
//
// Fences are never removed: a guard without one admits any token, and nothing
// tells that no older holder is left. One takes about a hundred bytes.
package redisfence
