package client

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// mirror follows all queues under a prefix and tells what changes in them.
type mirror struct {
	client   *Client
	prefix   string
	queues   map[string][]Claim // sorted
	revision int64              // up to which the queues are known
	gone     map[int64]bool     // of leases, as asked when the batch came that is being applied
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
		if errors.Is(err, rpctypes.ErrCompacted) {
			err = m.read(ctx, tell)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errLeft), errors.Is(err, rpctypes.ErrPermissionDenied):
			return err
		case err != nil:
			outcome.Pause(ctx, watchPause)
		}
	}
}

// watchOnce follows the queues until the watch ends.
func (m *mirror) watchOnce(ctx context.Context, tell func(Event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	stream := m.client.watchStream.Load()
	watch := m.client.etcd.Watch(onStream(ctx, stream), m.client.space.Locks(m.prefix),
		clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithRev(m.revision+1))
	batches := make(chan fated)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel() // before that
	reading.Go(func() { m.client.readAhead(ctx, watch, batches) })
	for batch := range batches {
		if err := whyCancelled(batch.WatchResponse); err != nil {
			m.client.watchStream.CompareAndSwap(stream, (stream+1)%watchStreams)
			return err
		}
		m.gone = batch.gone
		for _, e := range batch.Events {
			if err := m.apply(ctx, e, tell); err != nil {
				return err
			}
			// Not the batch's own revision: a watch that catches up sends its
			// events in parts, each with the revision of the whole.
			m.revision = e.Kv.ModRevision
		}
	}
	return errWatchClosed
}

// apply takes over one change of one key, and tells what it means.
func (m *mirror) apply(ctx context.Context, e *clientv3.Event, tell func(Event) bool) error {
	lock, ok := m.client.space.LockOf(string(e.Kv.Key))
	if !ok || !strings.HasPrefix(lock, m.prefix) { // the claims of lock "a" begin with "a/" too
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
	var events []Event
	note := func(kind EventKind, c Claim) {
		events = append(events, Event{Kind: kind, Claim: c, Revision: revision})
	}
	for _, c := range missing(held, after) {
		note(m.endOf(ctx, c, revision), c)
	}
	for _, c := range missing(waited, after) {
		note(m.withdrawal(ctx, c), c)
	}
	for _, c := range missing(holds, held) {
		note(Acquired, c)
	}
	for _, c := range missing(waits, before) {
		note(Waiting, c)
	}
	for _, e := range events {
		if tell != nil && !tell(e) {
			return errLeft
		}
	}
	return nil
}

// endOf finds out how a claim that held has ended. It asks for the lease first:
// when a session is closed its lease ends right after its claims.
func (m *mirror) endOf(ctx context.Context, c Claim, revision int64) EventKind {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	gone := m.leaseGone(ctx, c)
	fence, err := m.client.etcd.Get(ctx, m.client.space.Fence(c.Lock), clientv3.WithRev(revision))
	switch {
	case err == nil && len(fence.Kvs) > 0 && string(fence.Kvs[0].Value) == string(keys.Closed(c.Token)):
		return Broken
	case gone:
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
	gone, asked := m.gone[c.Lease]
	if !asked {
		gone = m.client.fates(ctx, map[int64]*clientv3.Event{c.Lease: nil})[c.Lease]
	}
	return gone
}

// read takes over all queues as they are now, and tells the differences.
func (m *mirror) read(ctx context.Context, tell func(Event) bool) error {
	now, revision, err := m.client.queuesUnder(ctx, m.prefix)
	if err != nil {
		return err
	}
	for lock := range m.queues {
		if _, still := now[lock]; !still {
			now[lock] = nil
		}
	}
	m.revision, m.gone = revision, nil
	for _, lock := range slices.Sorted(maps.Keys(now)) {
		if err := m.change(ctx, lock, m.queues[lock], now[lock], revision, tell); err != nil {
			return err
		}
	}
	return nil
}

// queuesUnder reads the queues of all locks whose names begin with prefix, at one
// revision, which it returns too.
func (c *Client) queuesUnder(ctx context.Context, prefix string) (map[string][]Claim, int64, error) {
	queues := map[string][]Claim{}
	from := c.space.Locks(prefix)
	page := claimPage{more: true, next: from}
	for page.more {
		var err error
		if page, err = c.readClaims(ctx, page.next, clientv3.GetPrefixRangeEnd(from), inspectPage, page.revision); err != nil {
			return nil, 0, err
		}
		for _, claim := range page.claims {
			if strings.HasPrefix(claim.Lock, prefix) {
				queues[claim.Lock] = append(queues[claim.Lock], claim)
			}
		}
	}
	for _, claims := range queues {
		queue.Sort(claims)
	}
	return queues, page.revision, nil
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
