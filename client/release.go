package client

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// release is the end of one or several claims.
type release struct {
	mine    bool   // all of them were there until the attempt that was answered
	inDoubt bool   // none was there any more: one before it may have removed them, see gaveBack
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
		removed := countRemoved(resp, len(places))
		done.mine = removed == len(places)
		done.inDoubt = removed == 0 && !done.certain
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
			Else(append([]clientv3.Op{clientv3.OpGet(p.key)}, asked...)...)
	}
	var each []clientv3.Op
	for _, p := range places {
		each = append(each, clientv3.OpTxn([]clientv3.Cmp{p.present()}, []clientv3.Op{clientv3.OpDelete(p.key)}, nil))
	}
	return s.etcd.Txn(ctx).Then(append(each, asked...)...)
}

// countRemoved is how many of n claims were there and have been deleted.
func countRemoved(resp *clientv3.TxnResponse, n int) (removed int) {
	if n == 1 && resp.Succeeded {
		return 1
	}
	for i := 0; i < n && n > 1; i++ {
		if resp.Responses[i].GetResponseTxn().Succeeded {
			removed++
		}
	}
	return removed
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
	s.lately.note(places)
	done, err := s.remove(ctx, places, ask, certain)
	for _, p := range places {
		s.slots.giveBack(p.queue, p.slot, err == nil && done.certain)
		if err != nil {
			s.sweep.add(swept{key: p.key, decided: p.token != 0})
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
