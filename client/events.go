package client

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// EventKind says what has happened to a claim.
type EventKind string

// The kinds of events.
const (
	Waiting   EventKind = "waiting"   // it was put behind others
	Acquired  EventKind = "acquired"  // it holds from now on
	Released  EventKind = "released"  // it held, and was given back
	Withdrawn EventKind = "withdrawn" // it waited, and was taken back
	Lost      EventKind = "lost"      // it ended with its session's lease
	Broken    EventKind = "broken"    // it held, and was broken by somebody else
)

// Event is one change in a lock's queue.
type Event struct {
	Kind     EventKind
	Claim    Claim
	Revision int64 // of the store
}

// Watch yields what happens to the locks whose names begin with prefix, in order,
// from now on, until ctx ends or the loop is left. After a gap (the watch fell
// behind a compaction) it goes on with the differences. An error is the last thing
// that it yields.
func (c *Client) Watch(ctx context.Context, prefix string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := keys.CheckPrefix(prefix); err != nil {
			yield(Event{}, err)
			return
		}
		m := mirror{client: c, prefix: prefix, queues: map[string][]Claim{}}
		if err := m.follow(ctx, func(e Event) bool { return yield(e, nil) }); err != nil {
			yield(Event{}, fmt.Errorf("watch locks that begin with %q: %w", prefix, err))
		}
	}
}

// mirror follows all queues under a prefix and tells what changes in them.
type mirror struct {
	client   *Client
	prefix   string
	queues   map[string][]Claim // sorted
	revision int64              // up to which the queues are known
}

// errLeft means that the loop over the events was left.
var errLeft = errors.New("left")

// follow returns when ctx ends, the loop is left, or the cluster cannot be asked.
func (m *mirror) follow(ctx context.Context, tell func(Event) bool) error {
	if err := m.read(ctx, nil); err != nil {
		return err
	}
	for {
		err := m.watchOnce(ctx, tell)
		switch {
		case errors.Is(err, errLeft):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, rpctypes.ErrCompacted):
			if err := m.read(ctx, tell); errors.Is(err, errLeft) {
				return nil
			} else if err != nil {
				return err
			}
		case errors.Is(err, rpctypes.ErrPermissionDenied):
			return err
		default:
			outcome.Pause(ctx, watchPause)
		}
	}
}

// watchOnce follows the queues until the watch ends.
func (m *mirror) watchOnce(ctx context.Context, tell func(Event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := m.client.watchStream.Load()
	watch := m.client.etcd.Watch(onStream(ctx, stream), m.client.space.Locks(m.prefix), clientv3.WithPrefix(), clientv3.WithRev(m.revision+1))
	for batch := range watch {
		if err := whyCancelled(batch); err != nil {
			m.client.watchStream.CompareAndSwap(stream, stream+1)
			return err
		}
		for _, e := range batch.Events {
			if err := m.apply(ctx, e, tell); err != nil {
				return err
			}
		}
		m.revision = max(m.revision, batch.Header.Revision)
	}
	return errWatchClosed
}

// apply takes over one change of one key, and tells what it means.
func (m *mirror) apply(ctx context.Context, e *clientv3.Event, tell func(Event) bool) error {
	lock, ok := m.client.space.LockOf(string(e.Kv.Key))
	if !ok {
		return nil
	}
	before := m.queues[lock]
	after := without(before, string(e.Kv.Key))
	if e.Type == clientv3.EventTypePut {
		after = append(after, claimFrom(lock, e.Kv))
		queue.Sort(after)
	}
	return m.change(ctx, lock, before, after, e.Kv.ModRevision, tell)
}

// change replaces a queue, and tells the difference.
func (m *mirror) change(ctx context.Context, lock string, before, after []Claim, revision int64, tell func(Event) bool) error {
	m.queues[lock] = after
	if len(after) == 0 {
		delete(m.queues, lock)
	}
	held, waited := queue.Split(before)
	holds, waits := queue.Split(after)
	say := func(kind EventKind, c Claim) error {
		if tell != nil && !tell(Event{Kind: kind, Claim: c, Revision: revision}) {
			return errLeft
		}
		return nil
	}
	var errs []error
	for _, c := range missing(held, after) {
		errs = append(errs, say(m.endOf(ctx, c, revision), c))
	}
	for _, c := range missing(waited, after) {
		errs = append(errs, say(m.withdrawal(ctx, c), c))
	}
	for _, c := range missing(holds, held) {
		errs = append(errs, say(Acquired, c))
	}
	for _, c := range missing(waits, before) {
		errs = append(errs, say(Waiting, c))
	}
	return errors.Join(errs...)
}

// endOf finds out how a claim that held has ended.
func (m *mirror) endOf(ctx context.Context, c Claim, revision int64) EventKind {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	fence, err := m.client.etcd.Get(ctx, m.client.space.Fence(c.Lock), clientv3.WithRev(revision))
	if err == nil && len(fence.Kvs) > 0 && string(fence.Kvs[0].Value) == string(keys.Closed(c.Token)) {
		return Broken
	}
	if m.leaseGone(ctx, c) {
		return Lost
	}
	return Released
}

// withdrawal finds out how a claim that waited has ended.
func (m *mirror) withdrawal(ctx context.Context, c Claim) EventKind {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	if m.leaseGone(ctx, c) {
		return Lost
	}
	return Withdrawn
}

func (m *mirror) leaseGone(ctx context.Context, c Claim) bool {
	if c.Lease == 0 {
		return false
	}
	left, err := m.client.etcd.TimeToLive(ctx, clientv3.LeaseID(c.Lease))
	return err == nil && left.TTL < 0
}

// read takes over all queues as they are now, and tells the differences.
func (m *mirror) read(ctx context.Context, tell func(Event) bool) error {
	now := map[string][]Claim{}
	var revision int64
	for info, err := range m.client.Locks(ctx, m.prefix) {
		if err != nil {
			return err
		}
		now[info.Name] = append(info.Holders, info.Waiters...)
		revision = info.Revision
	}
	if revision == 0 { // no lock, so no revision came with one
		at, err := m.client.readClaims(ctx, m.client.space.Locks(m.prefix), clientv3.GetPrefixRangeEnd(m.client.space.Locks(m.prefix)), 1, 0)
		if err != nil {
			return err
		}
		revision = at.revision
	}
	for lock := range m.queues {
		if _, still := now[lock]; !still {
			now[lock] = nil
		}
	}
	m.revision = revision
	for lock, claims := range now {
		if err := m.change(ctx, lock, m.queues[lock], claims, revision, tell); err != nil {
			return err
		}
	}
	return nil
}

// without returns the claims but for the one of a key.
func without(claims []Claim, key string) []Claim {
	rest := make([]Claim, 0, len(claims)+1)
	for _, c := range claims {
		if c.Key != key {
			rest = append(rest, c)
		}
	}
	return rest
}

// missing returns those claims that are not among others.
func missing(claims, others []Claim) []Claim {
	known := make(map[fencing.Token]bool, len(others))
	for _, c := range others {
		known[c.Token] = true
	}
	var list []Claim
	for _, c := range claims {
		if !known[c.Token] {
			list = append(list, c)
		}
	}
	return list
}
