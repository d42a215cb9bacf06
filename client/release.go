package client

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// release is the end of one or several claims.
type release struct {
	mine    bool   // all of them were there until this release
	oldest  *Claim // who holds the first lock now; read for a caller that asks
	certain bool   // every request was answered, so the keys may be used again
}

// remove deletes each claim that still is the one of its token, and repeats that
// until it is answered or ctx ends. With ask it also reads who holds the first
// lock then: not without need, since every member has to sort the queue for that.
// certain says that no request before this one may have deleted them.
func (s *Session) remove(ctx context.Context, places []place, ask, certain bool) (release, error) {
	done := release{certain: certain}
	err := outcome.Retry(ctx, func(ctx context.Context) error {
		resp, err := s.removal(ctx, places, ask).Commit()
		if err != nil {
			done.certain = done.certain && outcome.Certain(err)
			return err
		}
		// An attempt before this one that was not answered may have removed them,
		// unless the fence tells that the lock was broken.
		done.mine = allSucceeded(resp, len(places)) || !done.certain && !broken(places, resp)
		if ask {
			done.oldest = places[0].claimOf(kvs(resp, len(places)))
		}
		return nil
	})
	return done, err
}

// removal deletes one claim, or each of several in a transaction of its own.
func (s *Session) removal(ctx context.Context, places []place, ask bool) clientv3.Txn {
	var asked []clientv3.Op
	if ask {
		asked = append(asked, places[0].oldest())
	}
	if p := places[0]; len(places) == 1 {
		return s.etcd.Txn(ctx).If(p.present()).
			Then(append([]clientv3.Op{clientv3.OpDelete(p.key)}, asked...)...).
			Else(append(append([]clientv3.Op{clientv3.OpGet(p.key)}, asked...), clientv3.OpGet(s.space.Fence(p.lock)))...)
	}
	var each []clientv3.Op
	for _, p := range places {
		each = append(each, clientv3.OpTxn([]clientv3.Cmp{p.present()}, []clientv3.Op{clientv3.OpDelete(p.key)},
			[]clientv3.Op{clientv3.OpGet(s.space.Fence(p.lock))}))
	}
	return s.etcd.Txn(ctx).Then(append(each, asked...)...)
}

// broken reports whether a claim that was not there any more had been broken, as
// far as that can be told: the break of a shared claim leaves no trace.
func broken(places []place, resp *clientv3.TxnResponse) bool {
	if len(places) == 1 {
		return !resp.Succeeded && closedAt(places[0], resp.Responses[len(resp.Responses)-1])
	}
	for i, p := range places {
		if part := resp.Responses[i].GetResponseTxn(); !part.Succeeded && closedAt(p, part.Responses[0]) {
			return true
		}
	}
	return false
}

// closedAt reports whether a fence, as read, was closed above a claim's token.
func closedAt(p place, fence *pb.ResponseOp) bool {
	return string(one(rangeOf(fence)).GetValue()) == string(keys.Closed(p.token))
}

// allSucceeded reports whether each of n claims was there and has been deleted.
func allSucceeded(resp *clientv3.TxnResponse, n int) bool {
	if n == 1 {
		return resp.Succeeded
	}
	for _, part := range resp.Responses[:n] {
		if !part.GetResponseTxn().Succeeded {
			return false
		}
	}
	return true
}

// boundRelease is the time that a release has: not the caller's, and no more than
// the lease, whose end takes the claims along.
func (s *Session) boundRelease() (context.Context, context.CancelFunc) {
	ctx, cancel := outcome.Bound(context.Background(), s.client.config.DialTimeout)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// giveUp removes claims, in its own bounded time.
func (s *Session) giveUp(places []place, ask bool) (release, error) {
	ctx, cancel := s.boundRelease()
	defer cancel()
	return s.takeBack(ctx, places, ask, true)
}

// takeBack removes claims. What could not be removed is left to the sweeper; a
// claim's number is used again only if its key is certainly gone.
func (s *Session) takeBack(ctx context.Context, places []place, ask, certain bool) (release, error) {
	done, err := s.remove(ctx, places, ask, certain)
	for _, p := range places {
		s.slots.giveBack(p.queue, p.slot, err == nil && done.certain)
		if err != nil {
			s.sweep.add(p.key)
		}
	}
	return done, err
}

// replace ends a claim and puts the next one of this session into the same queue,
// in one transaction: a hand-over within the process costs one commit. The next
// claim bears another key, since one transaction cannot delete a key and put it.
// done is false if the claim that was to end is gone.
func (s *Session) replace(ctx context.Context, old place, next *place, value string) (now standing, done bool, err error) {
	resp, err := s.etcd.Txn(ctx).If(old.present(), next.absent()).
		Then(append([]clientv3.Op{clientv3.OpDelete(old.key)}, s.put(*next, value)...)...).
		Else(clientv3.OpGet(old.key)).
		Commit()
	if err != nil || !resp.Succeeded {
		return standing{}, false, err
	}
	next.token = fencing.Token(resp.Header.Revision)
	return next.arrived(resp.Responses[1:]), true, nil
}
