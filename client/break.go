package client

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// Break takes a lock away from whoever has claimed it with this token. The claim
// is deleted, and if it was an exclusive one that held, the fence of the store is
// closed above the token, so that the victim is refused there from then on. Its
// client learns of it within about a second.
//
// SQL, Redis, files and other resources do not learn of a break: they refuse the
// victim from the next holder's first operation on.
//
// Errors: ErrNotHeld if no claim bears the token, ErrUncertain, ErrUnavailable.
func (c *Client) Break(ctx context.Context, name string, token fencing.Token) error {
	if err := keys.CheckName(name); err != nil {
		return err
	}
	doing := fmt.Sprintf("break %q, token %v", name, token)
	if !token.Valid() {
		return fmt.Errorf("%s: %w: tokens are greater than zero", doing, ErrNotHeld)
	}
	return c.during(ctx, func(ctx context.Context) error { return c.breakClaim(ctx, doing, name, token) })
}

// breakClaim finds the claim and deletes it, until nothing has moved in between.
func (c *Client) breakClaim(ctx context.Context, doing, name string, token fencing.Token) error {
	ctx, cancel := outcome.Bound(ctx, c.config.DialTimeout)
	defer cancel()
	for {
		victim, err := c.findVictim(ctx, doing, name, token)
		if err != nil {
			return err
		}
		done, err := c.breakOnce(ctx, victim)
		if err != nil {
			return outcome.OfWrite(ctx, doing, err, c.etcd.Endpoints())
		}
		if done { // else the queue or the fence has moved: look again
			return nil
		}
	}
}

// victim is a claim to be broken, and what stood around it when it was found.
type victim struct {
	claim    Claim
	head     Claim  // the oldest claim in the queue
	fenceKey string // of the guard
	fence    *mvccpb.KeyValue
}

func (c *Client) findVictim(ctx context.Context, doing, name string, token fencing.Token) (victim, error) {
	p := place{lock: name, queue: c.space.Queue(name)}
	v := victim{fenceKey: c.space.Fence(name)}
	var resp *clientv3.TxnResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = c.etcd.Txn(ctx).Then(
			clientv3.OpGet(p.queue, clientv3.WithPrefix(), clientv3.WithMinCreateRev(int64(token)), clientv3.WithMaxCreateRev(int64(token))),
			p.oldest(), clientv3.OpGet(v.fenceKey)).Commit()
		return err
	})
	if err != nil {
		return v, outcome.OfRead(ctx, doing, err, c.etcd.Endpoints())
	}
	claim := p.claimOf(kvs(resp, 0))
	if claim == nil {
		return v, fmt.Errorf("%s: %w: no claim bears that token; inspect the lock to see who holds it now", doing, ErrNotHeld)
	}
	v.claim, v.head, v.fence = *claim, *p.claimOf(kvs(resp, 1)), one(kvs(resp, 2))
	return v, nil
}

// breakOnce deletes the claim if all is as it was found. Only an exclusive claim
// that holds has its fence closed: to close it above a waiter's or a shared
// holder's token would fence those who hold.
func (c *Client) breakOnce(ctx context.Context, v victim) (done bool, err error) {
	ifs := []clientv3.Cmp{
		clientv3.Compare(clientv3.CreateRevision(v.claim.Key), "=", int64(v.claim.Token)),
		clientv3.Compare(clientv3.CreateRevision(v.head.Key), "=", int64(v.head.Token)),
	}
	then := []clientv3.Op{clientv3.OpDelete(v.claim.Key)}
	closed := keys.Closed(v.claim.Token)
	if v.claim.Token == v.head.Token && v.claim.Exclusive() {
		ifs = append(ifs, clientv3.Compare(clientv3.ModRevision(v.fenceKey), "=", v.fence.GetModRevision()))
		if keys.FenceValue(v.fence.GetValue()) < closed {
			then = append(then, clientv3.OpPut(v.fenceKey, string(closed)))
		}
	}
	resp, err := c.etcd.Txn(ctx).If(ifs...).Then(then...).Commit()
	if err != nil {
		return false, err
	}
	return resp.Succeeded, nil
}
