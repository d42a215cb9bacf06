package client

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// gaveBack decides who removed claims that are gone, where an earlier attempt to
// delete them was not answered: it was that attempt, unless their lease has ended
// or one of them was broken. What leaves no trace passes for given back: the break
// of a shared claim, a key deleted by hand, a break that history has been compacted
// over. An error means that it is not known.
func (s *Session) gaveBack(places []place) (bool, error) {
	ctx, cancel := s.boundRelease()
	defer cancel()
	gone, err := s.client.leaseGone(ctx, s.lease)
	for i := 0; i < len(places) && !gone && err == nil; i++ {
		if places[i].kind == exclusive {
			gone, err = s.wasBroken(ctx, places[i])
		}
	}
	if err != nil {
		return false, fmt.Errorf("its claims are gone, but by whom is not known: %w", err)
	}
	return !gone, nil
}

// leaseGone reports whether the cluster does not know a lease any more.
func (c *Client) leaseGone(ctx context.Context, lease clientv3.LeaseID) (gone bool, err error) {
	err = outcome.Retry(ctx, func(ctx context.Context) error {
		left, err := c.etcd.TimeToLive(ctx, lease)
		gone = err == nil && left.TTL < 0
		return err
	})
	return gone, err
}

// wasBroken reports whether the fence was closed right above a claim's token at any
// time. Later holders may have raised it since, and its values never fall, so it
// is read back, one change after the other.
func (s *Session) wasBroken(ctx context.Context, p place) (bool, error) {
	closed := keys.Closed(p.token)
	var at int64 // now
	for {
		var resp *clientv3.GetResponse
		err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
			resp, err = s.etcd.Get(ctx, s.space.Fence(p.lock), clientv3.WithRev(at))
			return err
		})
		if errors.Is(err, rpctypes.ErrCompacted) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		fence := one(resp.Kvs)
		if value := keys.FenceValue(fence.GetValue()); value <= closed {
			return value == closed, nil
		}
		at = fence.ModRevision - 1
	}
}
