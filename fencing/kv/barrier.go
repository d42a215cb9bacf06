package kv

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// barrier makes sure that writes whose fate is unknown cannot land after a later
// one: it changes the fence's mod revision, under which they were sent.
//
// It is over when the fence is seen with another mod revision than theirs
// (whoever changed it), when the claim is gone, or when a higher token has been
// admitted; in each case etcd refuses the lost requests from then on. Until then
// the handle's other operations wait.
type barrier struct {
	under int64         // the fence's mod revision under which the lost writes were sent
	over  chan struct{} // closed when no lost write can land any more
}

// raiseBarrier starts the barrier against a write that was sent under fence, and
// waits for it while ctx lasts.
func (kv *KV) raiseBarrier(ctx context.Context, fence view) {
	kv.mu.Lock()
	running := kv.barrier != nil
	passed := kv.fence.revision > fence.revision // the fence has moved since: nothing to do
	if !running && !passed {
		kv.barrier = &barrier{under: fence.revision, over: make(chan struct{})}
		kv.config.Background(kv.barrierLoop(kv.barrier))
	}
	kv.mu.Unlock()
	_ = kv.awaitBarrier(ctx) // it goes on in the background
}

// awaitBarrier waits until no write's fate is unknown.
func (kv *KV) awaitBarrier(ctx context.Context) error {
	kv.mu.Lock()
	current := kv.barrier
	kv.mu.Unlock()
	if current == nil {
		return nil
	}
	select {
	case <-current.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// barrierLoop returns the work of one barrier, to be run in the background.
func (kv *KV) barrierLoop(b *barrier) func(context.Context) {
	return func(ctx context.Context) {
		for pause := firstPause; !kv.tryBarrier(ctx, b); pause = min(2*pause, lastPause) {
			if !outcome.Pause(ctx, pause) {
				return // the owner has closed: so has the handle, and operations end with their own ctx
			}
		}
		kv.mu.Lock()
		kv.barrier = nil
		kv.mu.Unlock()
		close(b.over)
	}
}

// Pauses between attempts at a barrier while the cluster does not answer.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// tryBarrier puts the fence again, with the same value, under the mod revision
// of the lost writes. It reports whether the barrier is over.
func (kv *KV) tryBarrier(ctx context.Context, b *barrier) bool {
	ctx, cancel := context.WithTimeout(ctx, kv.config.Timeout)
	defer cancel()
	key, mine := kv.space.Fence(kv.seq.Lock), kv.mine
	fence := view{value: mine, revision: b.under}
	resp, err := kv.etcd.Txn(ctx).If(kv.underFence(fence)...).
		Then(clientv3.OpPut(key, string(mine))).
		Else(clientv3.OpGet(key), clientv3.OpGet(kv.claimKey())).Commit()
	if err != nil {
		return false // no answer: this put may land too, and is then seen by the next attempt
	}
	if resp.Succeeded {
		kv.learn(view{value: mine, revision: resp.Header.Revision})
		return true
	}
	now, err := kv.explain(fence, resp)
	if err == nil {
		kv.learn(now)
	}
	return true // whatever made the compares fail makes those of the lost writes fail for ever
}

// claimKey returns the key of the claim, which is known once an operation has run.
func (kv *KV) claimKey() string {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	return kv.claim
}
