package client

import (
	"context"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// sharedPage is how many claims a shared waiter reads at a time, backwards, in
// search of an exclusive one.
const sharedPage = 100

// anyMemberTime bounds a read of what one member has, which takes milliseconds. One
// that hangs must not cost more: there is the read through a quorum after it.
const anyMemberTime = 500 * time.Millisecond

// look reads the queue at one revision: is the claim there, and whom does it have
// to await? ahead is whom it awaited so far, if anybody: while that one is still
// there, two keys are read and no more.
//
// since is the revision from which on a watch tells of every end, or at which an
// event said that one has come; or 0. A read at that revision or a later one shows
// all that matters, so the first attempt asks any member for what it has, without a
// round through a quorum; what is older than that is thrown away.
func (s *Session) look(ctx context.Context, p place, ahead *Claim, since int64) (now standing, err error) {
	if since > 0 {
		attempt, cancel := context.WithTimeout(ctx, anyMemberTime)
		now, err := s.read(attempt, p, ahead, clientv3.WithSerializable())
		cancel()
		// That the claim is gone is not believed on these terms: the member may not
		// have come as far as the claim's own put.
		if err == nil && now.at >= since && now.mine {
			return now, nil
		}
	}
	err = outcome.Retry(ctx, func(ctx context.Context) (err error) {
		now, err = s.read(ctx, p, ahead)
		return err
	})
	return now, err
}

// anyGone reports whether one of the claims is not there any more.
func (s *Session) anyGone(ctx context.Context, places []place) (gone bool, err error) {
	var reads []clientv3.Op
	for _, p := range places {
		reads = append(reads, clientv3.OpGet(p.key))
	}
	err = outcome.Retry(ctx, func(ctx context.Context) error {
		resp, err := s.etcd.Txn(ctx).Then(reads...).Commit()
		for i := 0; err == nil && i < len(places); i++ {
			gone = gone || !places[i].isMine(one(kvs(resp, i)))
		}
		return err
	})
	return gone, err
}

// read reads what look needs.
func (s *Session) read(ctx context.Context, p place, ahead *Claim, opts ...clientv3.OpOption) (standing, error) {
	own := clientv3.OpGet(p.key, opts...)
	full := []clientv3.Op{own, p.older(p.token, p.olderNeeded(), opts...), clientv3.OpGet(s.space.Fence(p.lock), opts...),
		clientv3.OpGet(p.queue, append(clientv3.WithFirstCreate(), opts...)...)}
	txn := s.etcd.Txn(ctx)
	if ahead != nil && p.kind != permit {
		txn = txn.If(clientv3.Compare(clientv3.CreateRevision(ahead.Key), "=", int64(ahead.Token))).Then(own).Else(full...)
	} else {
		txn = txn.Then(full...)
	}
	resp, err := txn.Commit()
	if err != nil {
		return standing{}, err
	}
	now := standing{mine: p.isMine(one(kvs(resp, 0))), at: resp.Header.Revision}
	if len(resp.Responses) == 1 {
		now.ahead = ahead
		return now, nil
	}
	now.fence = one(kvs(resp, 2))
	if first := one(kvs(resp, 3)); first != nil {
		now.oldest = fencing.Token(first.CreateRevision)
	}
	now.ahead, err = s.ahead(ctx, p, kvs(resp, 1), resp.Header.Revision)
	now.next = p.kind == exclusive && now.ahead != nil && now.ahead.Token == now.oldest
	return now, err
}

// olderNeeded is how many claims before its own tell a claim whom to await.
func (p place) olderNeeded() int64 {
	switch p.kind {
	case shared:
		return sharedPage
	case permit:
		return int64(p.limit)
	}
	return 1
}

func (p place) isMine(found *mvccpb.KeyValue) bool {
	return found != nil && found.CreateRevision == int64(p.token)
}

// ahead finds whom a claim has to await among the claims before it, the latest
// first. A shared one reads on, at the same revision, until it meets an exclusive
// claim or the head of the queue.
func (s *Session) ahead(ctx context.Context, p place, older []*mvccpb.KeyValue, revision int64) (*Claim, error) {
	switch p.kind {
	case exclusive:
		return p.claimOf(older), nil
	case permit:
		if len(older) < p.limit {
			return nil, nil
		}
		return p.claimOf(older), nil
	}
	for len(older) > 0 {
		for _, found := range older {
			if c := claimFrom(p.lock, found); c.Exclusive() {
				return &c, nil
			}
		}
		if len(older) < sharedPage {
			return nil, nil
		}
		before := fencing.Token(older[len(older)-1].CreateRevision)
		resp, err := s.etcd.Do(ctx, p.older(before, sharedPage, clientv3.WithRev(revision)))
		if err != nil {
			return nil, err
		}
		older = resp.Get().Kvs
	}
	return nil, nil
}
