package client

import (
	"context"
	"maps"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// fated is a batch of a watch on claims, with what is known of the leases of those
// that ended in it.
type fated struct {
	clientv3.WatchResponse
	gone map[int64]bool // by lease: whether it is gone, and was not given back; asked when the batch came
}

// readAhead sends on what a watch brings, in order, until ctx or the watch ends. It
// asks for leases as soon as a batch comes, however slow the receiver is: the later
// the question, the more often a session has been closed meanwhile.
func (c *Client) readAhead(ctx context.Context, watch clientv3.WatchChan, to chan<- fated) {
	defer close(to)
	var waiting []fated
	for watch != nil || len(waiting) > 0 {
		var ready chan<- fated // nil, which blocks, while nothing waits
		var first fated
		if len(waiting) > 0 {
			ready, first = to, waiting[0]
		}
		select {
		case batch, ok := <-watch:
			if !ok {
				watch = nil
				continue
			}
			waiting = append(waiting, fated{batch, c.fatesIn(ctx, batch)})
		case ready <- first:
			waiting = waiting[1:]
		case <-ctx.Done():
			return
		}
	}
}

// askedAtOnce is how many leases are asked for side by side.
const askedAtOnce = 16

// fatesIn asks for the lease of each claim that ended in a batch.
func (c *Client) fatesIn(ctx context.Context, batch clientv3.WatchResponse) map[int64]bool {
	ended := map[int64]*clientv3.Event{}
	for _, e := range batch.Events {
		if _, claim := c.space.LockOf(string(e.Kv.Key)); claim && e.Type == clientv3.EventTypeDelete && e.PrevKv.GetLease() != 0 {
			ended[e.PrevKv.Lease] = e
		}
	}
	return c.fates(ctx, ended)
}

// fates asks for leases, each with the end of its last claim, or nil if that is
// not known. It leaves out the leases for which there is no answer in time.
func (c *Client) fates(ctx context.Context, ended map[int64]*clientv3.Event) map[int64]bool {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	gone := make(map[int64]bool, len(ended))
	var mu sync.Mutex
	for batch := range slices.Chunk(slices.Collect(maps.Keys(ended)), askedAtOnce) {
		var asking sync.WaitGroup
		for _, lease := range batch {
			asking.Go(func() {
				is, err := c.leaseGone(ctx, clientv3.LeaseID(lease))
				if err != nil {
					return
				}
				is = is && (ended[lease] == nil || !c.wasClosed(ctx, ended[lease]))
				mu.Lock()
				defer mu.Unlock()
				gone[lease] = is
			})
		}
		asking.Wait()
	}
	return gone
}
