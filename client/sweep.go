package client

import (
	"context"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// sweeper removes claims that nobody owns. A claim whose put was never answered
// can appear seconds after it was given up, and would hold the lock for as long
// as the session lives. So the sweeper keeps an eye on the keys of such claims
// until the session ends, and deletes them whenever they exist: their numbers are
// never used again, so no live claim can be met.
//
// Where the put was answered, and it is the delete that was not, or the store that
// is full, the claim cannot appear any more once it is gone: then it is forgotten.
type sweeper struct {
	session *Session
	added   chan struct{} // there is a new key

	mu      sync.Mutex
	keys    []swept
	running bool
}

// swept is one key under the sweeper's eye.
type swept struct {
	key     string
	decided bool // its put has been applied by now, or never will be
}

// The sweeper looks often after a key was added, since most late requests land at
// once when a connection comes back, and then once in two seconds.
const (
	firstSweep = 50 * time.Millisecond
	lastSweep  = 2 * time.Second
)

// sweepBatch is how many keys one read covers; etcd takes 128 operations in one
// transaction unless set otherwise.
const sweepBatch = 100

// add puts a key under the sweeper's eye.
func (w *sweeper) add(k swept) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys = append(w.keys, k)
	select {
	case w.added <- struct{}{}:
	default:
	}
	if !w.running {
		w.running = w.session.start(w.run) == nil
	}
}

// has reports whether a key is under the sweeper's eye.
func (w *sweeper) has(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.keys, func(k swept) bool { return k.key == key })
}

// count is how many keys are under the sweeper's eye.
func (w *sweeper) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.keys)
}

// run sweeps until the session ends.
func (w *sweeper) run() {
	pause := firstSweep
	for w.session.ctx.Err() == nil {
		w.clearAll()
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			pause = min(2*pause, lastSweep)
		case <-w.added:
			pause = firstSweep
		case <-w.session.ctx.Done():
		}
		timer.Stop()
	}
}

// clearAll looks at every key once.
func (w *sweeper) clearAll() {
	w.mu.Lock()
	keys := slices.Clone(w.keys)
	w.mu.Unlock()
	for batch := range slices.Chunk(keys, sweepBatch) {
		w.clear(w.session.ctx, batch)
	}
}

// clear deletes those of the keys that exist, and forgets those that are gone for
// good. Errors are left to the next round.
func (w *sweeper) clear(ctx context.Context, keys []swept) {
	ctx, cancel := context.WithTimeout(ctx, w.session.client.config.DialTimeout)
	defer cancel()
	var gets, deletes []clientv3.Op
	for _, k := range keys {
		gets = append(gets, clientv3.OpGet(k.key, clientv3.WithCountOnly()))
	}
	var found *clientv3.TxnResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) { // one member may hang
		found, err = w.session.etcd.Txn(ctx).Then(gets...).Commit()
		return err
	})
	if err != nil {
		return
	}
	gone := map[swept]bool{}
	for i, k := range keys {
		if found.Responses[i].GetResponseRange().GetCount() > 0 {
			deletes = append(deletes, clientv3.OpDelete(k.key))
		} else if k.decided {
			gone[k] = true
		}
	}
	w.forget(gone)
	if len(deletes) > 0 {
		_, _ = w.session.etcd.Txn(ctx).Then(deletes...).Commit()
	}
}

// forget takes keys away from the sweeper's eye.
func (w *sweeper) forget(gone map[swept]bool) {
	if len(gone) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys = slices.DeleteFunc(w.keys, func(k swept) bool { return gone[k] })
	if len(w.keys) == 0 {
		w.keys = nil // and the memory that many have taken
	}
}
