package kv

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// Check asks whether seq is the current holder's: nil, or the refusal that an
// operation under it would meet. The answer can be outdated when it arrives; only a
// fence is not. It moves no fence.
func Check(ctx context.Context, etcd *clientv3.Client, seq fencing.Sequencer, cfg Config) error {
	handle, err := New(etcd, seq, cfg)
	if err != nil {
		return err
	}
	ctx, cancel := outcome.Bound(ctx, handle.config.Timeout)
	defer cancel()
	doing := fmt.Sprintf("check %s", seq)
	found, err := handle.look(ctx, doing)
	if err != nil {
		return err
	}
	if err := handle.mustBeHead(found.head); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// sighting is what one look at a bare sequencer's guard found, at one revision.
type sighting struct {
	fence view
	claim *mvccpb.KeyValue // alive, with the sequencer's token
	head  *mvccpb.KeyValue // the oldest claim in the queue
}

// find looks for the claim of a bare sequencer and keeps what it found.
func (kv *KV) find(ctx context.Context, doing string) (view, error) {
	found, err := kv.look(ctx, doing)
	if err != nil {
		return view{}, err
	}
	kv.mu.Lock()
	kv.claim = string(found.claim.Key)
	kv.mu.Unlock()
	kv.learn(found.fence)
	return found.fence, nil
}

// look reads fence and queue at one revision. Errors are worded for the user.
func (kv *KV) look(ctx context.Context, doing string) (sighting, error) {
	var resp *clientv3.TxnResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = kv.etcd.Txn(ctx).Then(
			clientv3.OpGet(kv.space.Fence(kv.seq.Lock)), kv.claimOfToken(), kv.firstInQueue()).Commit()
		return err
	})
	if err != nil {
		return sighting{}, outcome.OfRead(ctx, doing, err, kv.etcd.Endpoints())
	}
	found := sighting{claim: first(resp, 1), head: first(resp, 2)}
	if found.fence, err = viewOf(first(resp, 0)); err == nil {
		err = kv.judge(ctx, found)
	}
	if err != nil {
		return sighting{}, fmt.Errorf("%s: %w", doing, err)
	}
	return found, nil
}

// judge returns the refusal of a sighting, or nil if its claim is alive and the
// fence does not stand above it.
func (kv *KV) judge(ctx context.Context, found sighting) error {
	if found.fence.value >= kv.over {
		return kv.stale(found.fence)
	}
	if found.claim == nil {
		return kv.past(ctx)
	}
	return kv.mustBeExclusive(found.claim)
}

// past says what became of a token that no living claim bears, by looking at the
// queue as it was at the token's own revision.
func (kv *KV) past(ctx context.Context) error {
	var resp *clientv3.GetResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = kv.etcd.Get(ctx, kv.space.Queue(kv.seq.Lock), append(kv.tokenRange(), clientv3.WithRev(int64(kv.seq.Token)))...)
		return err
	})
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		return fmt.Errorf("%w: no claim with token %v is alive; whether there ever was one is compacted history", fencing.ErrNotHeld, kv.seq.Token)
	case errors.Is(err, rpctypes.ErrFutureRev):
		return fmt.Errorf("%w: token %v of %q is higher than any token of the cluster", fencing.ErrNotIssued, kv.seq.Token, kv.seq.Lock)
	case err != nil:
		return outcome.OfRead(ctx, "look for its claim", err, kv.etcd.Endpoints())
	case len(resp.Kvs) == 0:
		return fmt.Errorf("%w: no claim on %q ever had token %v", fencing.ErrNotIssued, kv.seq.Lock, kv.seq.Token)
	}
	if err := kv.mustBeExclusive(resp.Kvs[0]); err != nil {
		return err
	}
	return fmt.Errorf("%w: the claim of token %v is gone: it was released, broken, or its session ended", fencing.ErrNotHeld, kv.seq.Token)
}

// mustBeExclusive refuses the token of a shared claim, which fences nobody.
func (kv *KV) mustBeExclusive(claim *mvccpb.KeyValue) error {
	if keys.DecodeClaim(claim.Value).Mode == keys.Exclusive {
		return nil
	}
	return fmt.Errorf("%w: token %v of %q belongs to a shared claim, which has no sequencer", fencing.ErrNotIssued, kv.seq.Token, kv.seq.Lock)
}

// mustBeHead refuses a claim that has not been granted: somebody alive stands
// before it in the queue.
func (kv *KV) mustBeHead(head *mvccpb.KeyValue) error {
	if head == nil || head.CreateRevision >= int64(kv.seq.Token) {
		return nil
	}
	return fmt.Errorf("%w: token %v still waits in the queue, behind token %v", fencing.ErrNotHeld, kv.seq.Token, head.CreateRevision)
}

// nobodyBefore is the compare that holds while no living claim is older than
// this handle's: every key of the queue has a create revision of at least the token.
func (kv *KV) nobodyBefore() clientv3.Cmp {
	queue := kv.space.Queue(kv.seq.Lock)
	return clientv3.Compare(clientv3.CreateRevision(queue), ">", int64(kv.seq.Token)-1).WithPrefix()
}

// firstInQueue reads the oldest claim, with its value: keys-only reads do not
// carry the lease.
func (kv *KV) firstInQueue() clientv3.Op {
	return clientv3.OpGet(kv.space.Queue(kv.seq.Lock), clientv3.WithFirstCreate()...)
}

// claimOfToken reads the claim that bears the token, if it is alive. Claims are
// never rewritten, so that its mod revision is the token too.
func (kv *KV) claimOfToken() clientv3.Op {
	return clientv3.OpGet(kv.space.Queue(kv.seq.Lock), kv.tokenRange()...)
}

func (kv *KV) tokenRange() []clientv3.OpOption {
	token := int64(kv.seq.Token)
	return []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithMinModRev(token), clientv3.WithMaxModRev(token)}
}
