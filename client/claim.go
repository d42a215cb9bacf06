package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// Claim is one entry in a lock's queue, see package queue.
type Claim = queue.Claim

// place is where this session's claim on a lock lies, or is about to.
type place struct {
	lock  string
	slot  int
	key   string
	token fencing.Token // 0 until the claim has been put
}

// standing is what a look at the queue says about a claim.
type standing struct {
	mine  bool             // the claim is there
	ahead *Claim           // whose end the claim has to await; nil: nobody's
	fence *mvccpb.KeyValue // the guard's fence; read only where nobody is ahead
}

// errUncertain marks a claim write whose answer never came.
var errUncertain = errors.New("claim write unanswered")

// newPlace picks a key for a claim.
func (s *Session) newPlace(lock string) place {
	slot := s.slots.take(lock)
	return place{lock: lock, slot: slot, key: s.space.Claim(lock, int64(s.lease), slot)}
}

// enqueue puts a claim at the tail of the queue and reads who stands before it, in
// one transaction: with nobody before it, the claim holds.
func (s *Session) enqueue(ctx context.Context, p place, value string) (place, standing, error) {
	resp, err := s.etcd.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0)).
		Then(s.put(p, value), s.lastTwo(p.lock), s.fence(p.lock)).
		Commit()
	return s.claimed(p, resp, err)
}

// enqueueIfFree puts a claim unless there is one already. If there is, it returns
// the oldest one as the one ahead.
func (s *Session) enqueueIfFree(ctx context.Context, p place, value string) (place, standing, error) {
	free := clientv3.Compare(clientv3.CreateRevision(s.space.Queue(p.lock)), "=", 0).WithPrefix()
	resp, err := s.etcd.Txn(ctx).If(free).
		Then(s.put(p, value), s.lastTwo(p.lock), s.fence(p.lock)).
		Else(s.oldest(p.lock)).
		Commit()
	if err == nil && !resp.Succeeded {
		return p, standing{ahead: s.claimOf(p.lock, kvs(resp, 0))}, nil
	}
	return s.claimed(p, resp, err)
}

// claimed reads the answer to a put of a claim.
func (s *Session) claimed(p place, resp *clientv3.TxnResponse, err error) (place, standing, error) {
	switch {
	case err != nil && outcome.Certain(err):
		return p, standing{}, err
	case err != nil:
		return p, standing{}, fmt.Errorf("%w: %w", errUncertain, err)
	case !resp.Succeeded:
		return p, standing{}, fmt.Errorf("%w: key %s exists already, put by someone else", errUncertain, p.key)
	}
	p.token = fencing.Token(resp.Header.Revision)
	now := standing{mine: true, fence: one(kvs(resp, 2))}
	if two := kvs(resp, 1); len(two) == 2 {
		now.ahead = s.claimOf(p.lock, two[1:])
	}
	return p, now, nil
}

// look reads the queue at one revision: is the claim there, and who is ahead?
// While the claim that was ahead is still there, it reads two keys and no more.
func (s *Session) look(ctx context.Context, p place, ahead Claim) (now standing, err error) {
	var resp *clientv3.TxnResponse
	older := append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(int64(p.token)-1))
	err = outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = s.etcd.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(ahead.Key), "=", int64(ahead.Token))).
			Then(clientv3.OpGet(p.key)).
			Else(clientv3.OpGet(p.key), clientv3.OpGet(s.space.Queue(p.lock), older...), s.fence(p.lock)).
			Commit()
		return err
	})
	if err != nil {
		return standing{}, err
	}
	own := one(kvs(resp, 0))
	now.mine = own != nil && own.CreateRevision == int64(p.token)
	if resp.Succeeded {
		now.ahead = &ahead
		return now, nil
	}
	now.ahead, now.fence = s.claimOf(p.lock, kvs(resp, 1)), one(kvs(resp, 2))
	return now, nil
}

// release is the end of a claim.
type release struct {
	gone    bool   // the claim is certainly not there any more
	mine    bool   // it was this release that removed it, or a try of it unanswered
	oldest  *Claim // who holds the lock now
	certain bool   // every request was answered, so the key may be used again
}

// remove deletes the claim if it still is the one of p's token, and repeats that
// until it is answered or ctx ends.
func (s *Session) remove(ctx context.Context, p place) (release, error) {
	done := release{certain: true}
	err := outcome.Retry(ctx, func(ctx context.Context) error {
		resp, err := s.etcd.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", int64(p.token))).
			Then(clientv3.OpDelete(p.key), s.oldest(p.lock)).
			Else(clientv3.OpGet(p.key), s.oldest(p.lock)).
			Commit()
		if err != nil {
			done.certain = done.certain && outcome.Certain(err)
			return err
		}
		done.gone = true
		done.mine = resp.Succeeded || !done.certain
		done.oldest = s.claimOf(p.lock, kvs(resp, 1))
		return nil
	})
	return done, err
}

// giveUp removes a claim, in its own bounded time. What could not be removed is
// left to the sweeper; the claim's number is used again only if its key is
// certainly gone.
func (s *Session) giveUp(p place) (release, error) {
	ctx, cancel := outcome.Bound(context.Background(), s.client.config.DialTimeout)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // the lease's end takes the claim along
	done, err := s.remove(ctx, p)
	s.slots.giveBack(p.lock, p.slot, err == nil && done.certain)
	if err != nil {
		s.sweep.add(p.key)
	}
	return done, err
}

func (s *Session) put(p place, value string) clientv3.Op {
	return clientv3.OpPut(p.key, value, clientv3.WithLease(s.lease))
}

func (s *Session) fence(lock string) clientv3.Op { return clientv3.OpGet(s.space.Fence(lock)) }

// lastTwo reads the two youngest claims with their values: keys-only reads do not
// carry the lease.
func (s *Session) lastTwo(lock string) clientv3.Op {
	return clientv3.OpGet(s.space.Queue(lock), clientv3.WithPrefix(), clientv3.WithLimit(2),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend))
}

func (s *Session) oldest(lock string) clientv3.Op {
	return clientv3.OpGet(s.space.Queue(lock), clientv3.WithFirstCreate()...)
}

// claimOf makes a Claim from the first key found, nil if there is none.
func (s *Session) claimOf(lock string, found []*mvccpb.KeyValue) *Claim {
	if len(found) == 0 {
		return nil
	}
	c := claimFrom(lock, found[0])
	return &c
}

func claimFrom(lock string, found *mvccpb.KeyValue) Claim {
	return Claim{
		ClaimValue: keys.DecodeClaim(found.Value),
		Lock:       lock,
		Key:        string(found.Key),
		Token:      fencing.Token(found.CreateRevision),
		Lease:      found.Lease,
	}
}

// valueOf is what a claim made now says about itself.
func (s *Session) valueOf(req Request) (string, error) {
	labels := make(map[string]string, len(s.client.config.Labels)+len(req.Labels))
	for _, set := range []map[string]string{s.client.config.Labels, req.Labels} {
		for key, value := range set {
			labels[key] = value
		}
	}
	return keys.ClaimValue{
		Owner:  s.client.config.Owner,
		Mode:   keys.Exclusive,
		Since:  time.Now().UTC().Truncate(time.Millisecond),
		Labels: labels,
		Value:  req.Value,
	}.Encode()
}

// kvs returns the keys that the i-th operation of a transaction read.
func kvs(resp *clientv3.TxnResponse, i int) []*mvccpb.KeyValue {
	return resp.Responses[i].GetResponseRange().GetKvs()
}

func one(found []*mvccpb.KeyValue) *mvccpb.KeyValue {
	if len(found) == 0 {
		return nil
	}
	return found[0]
}
