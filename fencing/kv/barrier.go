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
	under int64         // the latest mod revision of the fence under which a lost write was sent; under KV.mu
	over  chan struct{} // closed when no lost write can land any more
}

// raiseBarrier starts the barrier against a write that was sent under fence, or
// makes the one that runs cover it, and waits for it while ctx lasts.
func (kv *KV) raiseBarrier(ctx context.Context, fence view) {
	kv.mu.Lock()
	passed := kv.fence.revision > fence.revision // the fence has moved since: nothing to do
	switch {
	case passed:
	case kv.barrier != nil:
		kv.barrier.under = max(kv.barrier.under, fence.revision)
	default:
		kv.barrier = &barrier{under: fence.revision, over: make(chan struct{})}
		kv.config.Background(kv.barrierLoop(kv.barrier))
	}
	kv.mu.Unlock()
	_, _, _ = kv.afterBarrier(ctx) // it goes on in the background
}

// afterBarrier waits until no write's fate is unknown, and returns what is known
// of claim and fence at that very moment: what is sent under an older view than
// a barrier's would not be covered by it.
func (kv *KV) afterBarrier(ctx context.Context) (claim string, fence view, err error) {
	for {
		kv.mu.Lock()
		current, claim, fence := kv.barrier, kv.claim, kv.fence
		kv.mu.Unlock()
		if current == nil {
			return claim, fence, nil
		}
		select {
		case <-current.over:
		case <-ctx.Done():
			return "", view{}, ctx.Err()
		}
	}
}

// barrierLoop returns the work of one barrier, to be run in the background.
func (kv *KV) barrierLoop(b *barrier) func(context.Context) {
	return func(ctx context.Context) {
		for pause := firstPause; !kv.barrierOver(b, kv.tryBarrier(ctx, b)); pause = min(2*pause, lastPause) {
			if !outcome.Pause(ctx, pause) {
				return // the owner has closed: so has the handle, and operations end with their own ctx
			}
		}
	}
}

// barrierOver ends the barrier if everything sent up to the revision that it was
// tried for is decided, and nothing was added meanwhile.
func (kv *KV) barrierOver(b *barrier, decided int64) bool {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	if decided < b.under {
		return false
	}
	kv.barrier = nil
	close(b.over)
	return true
}

// Pauses between attempts at a barrier while the cluster does not answer.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// tryBarrier puts the fence again, with the same value, under the mod revision
// of the lost writes. It returns that revision if no write sent under it, or an
// older one, can land any more, and 0 if that is not known.
func (kv *KV) tryBarrier(ctx context.Context, b *barrier) (decided int64) {
	ctx, cancel := context.WithTimeout(ctx, kv.config.Timeout)
	defer cancel()
	kv.mu.Lock()
	fence := view{value: kv.mine, revision: b.under}
	kv.mu.Unlock()
	key := kv.space.Fence(kv.seq.Lock)
	resp, err := kv.etcd.Txn(ctx).If(kv.underFence(fence)...).
		Then(clientv3.OpPut(key, string(kv.mine))).
		Else(clientv3.OpGet(key), clientv3.OpGet(kv.claimKey())).Commit()
	if err != nil {
		return 0 // no answer: this put may land too, and is then seen by the next attempt
	}
	if resp.Succeeded {
		kv.learn(view{value: kv.mine, revision: resp.Header.Revision})
		return fence.revision
	}
	if now, err := kv.explain(fence, resp); err == nil {
		kv.learn(now)
	}
	return fence.revision // whatever made the compares fail makes those of the lost writes fail for ever
}

// claimKey returns the key of the claim, which is known once an operation has run.
func (kv *KV) claimKey() string {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	return kv.claim
}
