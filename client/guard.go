package client

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// guardDelay is how long a lock is held before its claim is watched. An end from
// outside (a break, a revoked lease) is noticed within a second all the same,
// and the many locks that are held for a moment cost nothing.
const guardDelay = 300 * time.Millisecond

// guardLater arranges for the claim to be watched if the lock is held for long.
func (l *Lock) guardLater() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.guard = time.AfterFunc(guardDelay, func() { _ = l.session.start(l.guardClaim) })
	}
}

// guardClaim watches the lock's claim until the lock ends, and ends the lock if
// the claim goes away.
func (l *Lock) guardClaim() {
	for l.Err() == nil {
		gone, err := l.watchClaim()
		if gone {
			l.end(fmt.Errorf("%w: the claim of token %v is gone: it was broken, or the session's lease was revoked", ErrLost, l.place.token))
			l.session.life.renewNow() // perhaps the lease is gone, and not the claim alone
			return
		}
		l.session.log.Debug("guard a lock: watch again", zap.String("lock", l.place.lock), zap.Error(err))
		outcome.Pause(l.ctx, watchPause)
	}
}

// watchClaim watches once. It reports that the claim is gone, or why the watch is over.
func (l *Lock) watchClaim() (gone bool, err error) {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	ends, err := l.session.client.watchEnds(ctx, l.place.key)
	if err != nil {
		return false, err
	}
	for {
		if gone, err := l.claimGone(ctx); gone || err != nil {
			return gone, err
		}
		if err := await(ctx, ends[0], nil); err != nil {
			return false, err
		}
	}
}

// claimGone reads the claim.
func (l *Lock) claimGone(ctx context.Context) (bool, error) {
	ctx, cancel := outcome.Bound(ctx, l.session.client.config.DialTimeout)
	defer cancel()
	var resp *clientv3.GetResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = l.session.etcd.Get(ctx, l.place.key)
		return err
	})
	if err != nil {
		return false, err
	}
	own := one(resp.Kvs)
	return own == nil || own.CreateRevision != int64(l.place.token), nil
}
