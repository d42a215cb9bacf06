package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// A claim that is given back and one that ends with its lease look the same in
// etcd's history. Whoever watches asks for the lease; but when a session is closed
// that is gone too, a round trip after its last claim. So a session that is closed
// leaves a mark in the history first, at the locks whose claims it has given back
// lately, under its lease, which takes the mark along:
//
//	delete …/@/<lease>-<n>   put …/@closed/<lease>   the lease is revoked
//	                                                 delete …/@closed/<lease>
//
// Any event at the mark's key, from the claim's end on, says that the session had
// its lease then, or that it meant to give it back.

// latelyTime is how long after the end of a claim a session marks its lock: about as
// long as a watch may take to fail over, and to bring the event.
const latelyTime = 5 * time.Second

// lately is where a session has given claims back, the latest last.
type lately struct {
	mu    sync.Mutex
	locks []gaveBackAt
}

type gaveBackAt struct {
	lock string
	at   time.Time
}

// note adds the locks of claims that are being given back. No more than MaxLocks
// are remembered: one mark after the last claim that a watch tells of is enough.
func (l *lately) note(places []place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range places {
		if p.kind == permit {
			continue // nobody watches those
		}
		if last := len(l.locks) - 1; last >= 0 && l.locks[last].lock == p.lock {
			l.locks = l.locks[:last]
		}
		l.locks = append(l.locks, gaveBackAt{p.lock, time.Now()})
	}
	if many := len(l.locks) - MaxLocks; many > 0 {
		l.locks = slices.Delete(l.locks, 0, many)
	}
}

// since returns the locks of claims given back after a moment, each once.
func (l *lately) since(moment time.Time) (locks []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.locks {
		if g.at.After(moment) {
			locks = append(locks, g.lock)
		}
	}
	slices.Sort(locks)
	return slices.Compact(locks)
}

// markClosed puts the marks of a session that is about to give its lease back.
// Without them nothing is wrong but what watchers are told, so it is tried once, in
// a part of the time that Close has.
func (s *Session) markClosed(ctx context.Context) {
	locks := s.lately.since(time.Now().Add(-latelyTime))
	if len(locks) == 0 || errors.Is(s.Err(), ErrLost) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime/4)
	defer cancel()
	var marks []clientv3.Op
	for _, lock := range locks {
		marks = append(marks, clientv3.OpPut(s.space.ClosedMark(lock, int64(s.lease)), "", clientv3.WithLease(s.lease)))
	}
	_, _ = s.etcd.Txn(ctx).Then(marks...).Commit()
}

// pastPause is between two questions whether a watch of the past has caught up;
// etcd serves those every 100 ms.
const pastPause = 20 * time.Millisecond

// wasClosed looks for the mark of a session whose lease is gone, in the history from
// the end of its claim on, up to now. It reports false where it cannot be read.
func (c *Client) wasClosed(ctx context.Context, claim *clientv3.Event) bool {
	lock, ok := c.space.LockOf(string(claim.Kv.Key))
	if !ok {
		return false
	}
	mark := c.space.ClosedMark(lock, claim.PrevKv.Lease)
	now, err := c.etcd.Get(ctx, mark) // no member that is behind must say that there was none
	if err != nil {
		return false
	}
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "fencelock-stream", "past"))
	defer cancel()
	past := c.etcd.Watch(ctx, mark, clientv3.WithRev(claim.Kv.ModRevision))
	ask := time.NewTicker(pastPause)
	defer ask.Stop()
	for {
		select {
		case r, ok := <-past:
			if !ok || r.Err() != nil || len(r.Events) > 0 {
				return ok && r.Err() == nil
			}
			if r.IsProgressNotify() && r.Header.Revision >= now.Header.Revision {
				return false
			}
		case <-ask.C:
			_ = c.etcd.RequestProgress(ctx) // or the next one
		case <-ctx.Done():
			return false
		}
	}
}
