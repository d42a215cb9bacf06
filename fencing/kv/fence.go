package kv

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// view is a fence as it was at some revision. The zero view is the fence that
// does not exist yet.
type view struct {
	value    keys.FenceValue
	revision int64 // of its last change: the m of the package comment
}

func viewOf(fence *mvccpb.KeyValue) (view, error) {
	if fence == nil {
		return view{}, nil
	}
	value, err := keys.ParseFence(string(fence.Value))
	if err != nil {
		return view{}, err
	}
	return view{value: value, revision: fence.ModRevision}, nil
}

// claims reports whether an operation under this view has to claim the fence.
func (kv *KV) claims(fence view) bool { return fence.value < kv.mine }

// learn takes over a newer view of the fence. Revisions only rise, so a late
// answer cannot set it back.
func (kv *KV) learn(fence view) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	if fence.revision > kv.fence.revision {
		kv.fence = fence
	}
}

// readFence reads the fence of a live handle if it has never been read, see [Grant]:
// to guess would cost a commit that is refused.
func (kv *KV) readFence(ctx context.Context, doing string) error {
	kv.mu.Lock()
	unread := kv.unread
	kv.mu.Unlock()
	if !unread {
		return nil
	}
	var resp *clientv3.GetResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = kv.etcd.Get(ctx, kv.space.Fence(kv.seq.Lock))
		return err
	})
	if err != nil {
		return outcome.OfRead(ctx, doing, err, kv.etcd.Endpoints())
	}
	for _, found := range resp.Kvs { // it is one key
		fence, err := viewOf(found)
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		kv.learn(fence)
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	kv.unread = false
	return nil
}

// stale is the refusal of this handle by a fence that is higher than its token.
func (kv *KV) stale(fence view) error {
	return &fencing.StaleError{Guard: kv.seq.Lock, Token: kv.seq.Token, Highest: fence.value.Token()}
}

// flat builds the one transaction that every operation is, see the package
// comment. A read-only one must hold at least one Get: etcd answers compares
// alone without asking a quorum, even on a member that is cut off.
func (kv *KV) flat(ctx context.Context, fence view, req request) clientv3.Txn {
	fenceKey, claimKey := kv.space.Fence(kv.seq.Lock), kv.claimKey()
	ifs := append(kv.underFence(fence), req.ifs...)
	then, otherwise := kv.opening(fence), []clientv3.Op{clientv3.OpGet(fenceKey), clientv3.OpGet(claimKey)}
	if kv.claims(fence) && kv.held == nil {
		otherwise = append(otherwise, kv.firstInQueue())
	}
	then, otherwise = append(then, req.ops...), append(otherwise, req.unmet...)
	if len(then) == 0 {
		then = append(then, clientv3.OpGet(fenceKey))
	}
	return kv.etcd.Txn(ctx).If(ifs...).Then(then...).Else(otherwise...)
}

// underFence returns the compares that an operation of this handle must meet.
func (kv *KV) underFence(fence view) []clientv3.Cmp {
	key := kv.space.Fence(kv.seq.Lock)
	compares := []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(key), "=", fence.revision),
		clientv3.Compare(clientv3.CreateRevision(kv.claimKey()), "=", int64(kv.seq.Token)),
	}
	if fence.revision > 0 {
		compares = append(compares, clientv3.Compare(clientv3.Value(key), "=", string(fence.value)))
	}
	if kv.claims(fence) && kv.held == nil {
		compares = append(compares, kv.nobodyBefore())
	}
	return compares
}

// opening returns the put that claims the fence, if this operation has to.
func (kv *KV) opening(fence view) []clientv3.Op {
	if !kv.claims(fence) {
		return nil
	}
	return []clientv3.Op{clientv3.OpPut(kv.space.Fence(kv.seq.Lock), string(kv.mine))}
}

// explain finds out why the compares of an operation under fence did not hold.
// It returns the fence as it is now, or the refusal.
func (kv *KV) explain(fence view, resp *clientv3.TxnResponse) (view, error) {
	now, err := viewOf(first(resp, 0))
	if err != nil {
		return view{}, err
	}
	if now.value >= kv.over {
		return view{}, kv.stale(now)
	}
	if claim := first(resp, 1); claim == nil || claim.CreateRevision != int64(kv.seq.Token) {
		return view{}, fmt.Errorf("%w: the claim of token %v is gone: it was released, broken, or its session ended", fencing.ErrNotHeld, kv.seq.Token)
	}
	if kv.claims(fence) && kv.held == nil {
		return now, kv.mustBeHead(first(resp, 2))
	}
	return now, nil
}

// first returns the first key of the i-th response, or nil.
func first(resp *clientv3.TxnResponse, i int) *mvccpb.KeyValue {
	kvs := resp.Responses[i].GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}
