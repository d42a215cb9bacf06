package kv

import (
	"context"
	"errors"
	"fmt"
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
// the handle's other operations wait. Where the cluster refuses the barrier itself
// (the store is full, the user lost a right), they are told so at once and change
// nothing; the barrier goes on trying, more slowly, and at once when an operation
// comes.
type barrier struct {
	over  chan struct{} // closed when no lost write can land any more
	nudge chan struct{} // asks for another attempt now

	// The rest is under KV.mu.
	under     int64         // the latest mod revision of the fence under which a lost write was sent
	began     int           // how many attempts have begun
	refused   error         // the latest refusal
	refusedAt int           // which attempt it answered, counted from 1
	said      chan struct{} // closed at the next refusal, and replaced
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
		kv.barrier = &barrier{under: fence.revision, over: make(chan struct{}), nudge: make(chan struct{}, 1), said: make(chan struct{})}
		kv.config.Background(kv.barrierLoop(kv.barrier))
	}
	kv.mu.Unlock()
	_, _, _ = kv.afterBarrier(ctx) // it goes on in the background
}

// afterBarrier waits until no write's fate is unknown, and returns what is known
// of claim and fence at that very moment: what is sent under an older view than
// a barrier's would not be covered by it. If an attempt at the barrier is refused
// that began after the call did, that is the error.
func (kv *KV) afterBarrier(ctx context.Context) (claim string, fence view, err error) {
	var of *barrier // the one that is waited for
	var seen int    // how many of its attempts had begun when that was begun
	for {
		kv.mu.Lock()
		current, claim, fence := kv.barrier, kv.claim, kv.fence
		var said chan struct{}
		var refusal error
		if current != nil && current != of {
			of, seen = current, current.began
		}
		if current != nil {
			said, refusal = current.said, current.refusalAfter(seen)
		}
		kv.mu.Unlock()
		if current == nil || refusal != nil {
			return claim, fence, refusal
		}
		current.tryNow()
		select {
		case <-current.over:
		case <-said:
		case <-ctx.Done():
			return "", view{}, ctx.Err()
		}
	}
}

func (b *barrier) tryNow() {
	select {
	case b.nudge <- struct{}{}:
	default:
	}
}

// refusalAfter words why a barrier cannot be brought to its end; nil if that is not
// known from an attempt after the first n. The caller holds KV.mu.
func (b *barrier) refusalAfter(n int) error {
	if b.refusedAt <= n {
		return nil
	}
	return fmt.Errorf("%w: %w", errBarred, b.refused)
}

// errBarred is why an operation was not sent at all.
var errBarred = errors.New("nothing was read or written: an earlier write of this handle may still land, and the cluster refuses the put of the fence that would rule that out")

// barrierLoop returns the work of one barrier, to be run in the background.
func (kv *KV) barrierLoop(b *barrier) func(context.Context) {
	return func(ctx context.Context) {
		for pause := firstPause; ; pause = min(2*pause, lastPause) {
			decided, refusal := kv.tryBarrier(ctx, b)
			if kv.barrierOver(b, decided, refusal) {
				return
			}
			if refusal != nil {
				pause = refusedPause
			}
			if !b.pause(ctx, pause, refusal != nil) {
				return // the owner has closed: so has the handle, and operations end with their own ctx
			}
		}
	}
}

// pause waits for the next attempt: after a refusal, until an operation asks for
// it. It reports whether ctx lasts.
func (b *barrier) pause(ctx context.Context, d time.Duration, refused bool) bool {
	if !refused {
		return outcome.Pause(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.nudge:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// barrierOver ends the barrier if everything sent up to the revision that it was
// tried for is decided, and nothing was added meanwhile. Else it tells those who
// wait of a refusal, if there was one.
func (kv *KV) barrierOver(b *barrier, decided int64, refusal error) bool {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	if decided >= b.under {
		kv.barrier = nil
		close(b.over)
		return true
	}
	if refusal != nil {
		b.refused, b.refusedAt = refusal, b.began
		close(b.said)
		b.said = make(chan struct{})
	}
	return false
}

// Pauses between attempts at a barrier while the cluster does not answer, and after
// it has refused one.
const (
	firstPause   = 20 * time.Millisecond
	lastPause    = 500 * time.Millisecond
	refusedPause = 5 * time.Second
)

// tryBarrier puts the fence again, with the same value, under the mod revision
// of the lost writes. It returns that revision if no write sent under it, or an
// older one, can land any more; else 0, and the refusal if there was one.
func (kv *KV) tryBarrier(ctx context.Context, b *barrier) (decided int64, refusal error) {
	ctx, cancel := context.WithTimeout(ctx, kv.config.Timeout)
	defer cancel()
	kv.mu.Lock()
	fence := view{value: kv.mine, revision: b.under}
	b.began++
	kv.mu.Unlock()
	key := kv.space.Fence(kv.seq.Lock)
	resp, err := kv.etcd.Txn(ctx).If(kv.underFence(fence)...).
		Then(clientv3.OpPut(key, string(kv.mine))).
		Else(clientv3.OpGet(key), clientv3.OpGet(kv.claimKey())).Commit()
	switch {
	case err != nil && outcome.Answered(err):
		return kv.decidedAnyway(ctx, fence), err
	case err != nil:
		return 0, nil // no answer: this put may land too, and is then seen by the next attempt
	case resp.Succeeded:
		kv.learn(view{value: kv.mine, revision: resp.Header.Revision})
		return fence.revision, nil
	}
	if now, err := kv.explain(fence, resp); err == nil {
		kv.learn(now)
	}
	return fence.revision, nil // whatever made the compares fail makes those of the lost writes fail for ever
}

// decidedAnyway reads whether the lost writes are decided although the barrier was
// refused: a full store applies the put that fills it, the claim may have ended, or
// somebody else may have moved the fence. Mod revisions never come back.
func (kv *KV) decidedAnyway(ctx context.Context, fence view) (decided int64) {
	var resp *clientv3.TxnResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = kv.etcd.Txn(ctx).Then(clientv3.OpGet(kv.space.Fence(kv.seq.Lock)), clientv3.OpGet(kv.claimKey())).Commit()
		return err
	})
	if err != nil {
		return 0
	}
	now, err := kv.explain(fence, resp)
	if err == nil && now == fence {
		return 0
	}
	if err == nil {
		kv.learn(now)
	}
	return fence.revision
}

// claimKey returns the key of the claim, which is known once an operation has run.
func (kv *KV) claimKey() string {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	return kv.claim
}
