package kv

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// request is one operation of the user, ready to run under the fence.
type request struct {
	doing string         // "put balance", for error messages
	write bool           // whether ops change anything
	ops   []clientv3.Op  // what to do
	ifs   []clientv3.Cmp // the user's own compares, see Txn
	unmet []clientv3.Op  // reads that answer the user if one of ifs does not hold
}

// run carries out a request under the fence, and reports it if it is refused.
func (kv *KV) run(ctx context.Context, req request) (*clientv3.TxnResponse, error) {
	resp, err := kv.decide(ctx, req)
	if errors.Is(err, fencing.ErrStale) || errors.Is(err, fencing.ErrNotHeld) || errors.Is(err, fencing.ErrNotIssued) {
		kv.config.Refused(kv.seq.Lock, kv.seq.Token, err)
	}
	return resp, err
}

// decide returns when the request was applied or refused, or when its fate is
// unknown.
func (kv *KV) decide(ctx context.Context, req request) (*clientv3.TxnResponse, error) {
	req.doing = fmt.Sprintf("%s of %s", req.doing, kv.seq)
	ctx, cancel := outcome.Bound(ctx, kv.config.Timeout)
	defer cancel()
	for {
		fence, err := kv.ready(ctx, req)
		if err != nil {
			return nil, err
		}
		resp, err := kv.commit(ctx, fence, req)
		if err != nil {
			return nil, kv.unanswered(ctx, fence, req, err)
		}
		if done, err := kv.settle(fence, req, resp); done || err != nil {
			return resp, err
		}
	}
}

// ready waits until the handle may send an operation: the lock is held, no
// write's fate is unknown, and claim and fence have been read once. It returns
// the fence as known.
func (kv *KV) ready(ctx context.Context, req request) (view, error) {
	if kv.held != nil {
		if err := kv.held(); err != nil {
			return view{}, fmt.Errorf("%s: %w", req.doing, err)
		}
	}
	if err := kv.config.Closed(); err != nil {
		return view{}, fmt.Errorf("%s: %w", req.doing, err)
	}
	if err := ctx.Err(); err != nil {
		return view{}, outcome.OfRead(ctx, req.doing, err, kv.etcd.Endpoints())
	}
	if err := kv.readFence(ctx, req.doing); err != nil {
		return view{}, err
	}
	claim, fence, err := kv.afterBarrier(ctx)
	if errors.Is(err, errBarred) {
		return view{}, outcome.Refused(req.doing, err)
	}
	if err != nil {
		return view{}, outcome.OfRead(ctx, req.doing, err, kv.etcd.Endpoints())
	}
	if claim == "" {
		return kv.find(ctx, req.doing)
	}
	if fence.value >= kv.over {
		return view{}, fmt.Errorf("%s: %w", req.doing, kv.stale(fence))
	}
	return fence, nil
}

// commit sends the flat transaction. A request that changes nothing of the
// user's is tried again, on another member, while ctx lasts.
func (kv *KV) commit(ctx context.Context, fence view, req request) (resp *clientv3.TxnResponse, err error) {
	send := func(ctx context.Context) error {
		resp, err = kv.flat(ctx, fence, req).Commit()
		return err
	}
	if req.write {
		return resp, send(ctx)
	}
	return resp, outcome.Retry(ctx, send)
}

// unanswered words an error of commit. If a write may still land, it makes sure
// that it cannot land after a later one, see barrier.
func (kv *KV) unanswered(ctx context.Context, fence view, req request, err error) error {
	if !req.write {
		if closed := kv.config.Closed(); closed != nil { // that is why no answer came
			return fmt.Errorf("%s: %w", req.doing, closed)
		}
		return outcome.OfRead(ctx, req.doing, err, kv.etcd.Endpoints())
	}
	if !outcome.Answered(err) && !kv.claims(fence) {
		kv.raiseBarrier(ctx, fence)
	}
	return outcome.OfWrite(ctx, req.doing, err, kv.etcd.Endpoints())
}

// settle reads the answer to the flat transaction and leaves in resp what the
// user asked for. done means that the request was decided; neither done nor an
// error means that another handle of this token moved the fence, and that the
// request is to be sent again.
func (kv *KV) settle(fence view, req request, resp *clientv3.TxnResponse) (done bool, _ error) {
	if resp.Succeeded {
		if kv.claims(fence) {
			kv.learn(view{value: kv.mine, revision: resp.Header.Revision})
		}
		resp.Responses = resp.Responses[len(resp.Responses)-len(req.ops):]
		return true, nil
	}
	now, err := kv.explain(fence, resp)
	if err != nil {
		return false, fmt.Errorf("%s: %w", req.doing, err)
	}
	if now == fence {
		resp.Responses = resp.Responses[len(resp.Responses)-len(req.unmet):]
		return true, kv.mustHaveCompares(req)
	}
	kv.learn(now)
	return false, nil
}

// mustHaveCompares guards against going round for ever: only a compare of the
// user's can fail while fence and claim are as expected.
func (kv *KV) mustHaveCompares(req request) error {
	if len(req.ifs) > 0 {
		return nil
	}
	return fmt.Errorf("%s: etcd refused a transaction whose compares all hold: report this", req.doing)
}
