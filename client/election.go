package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// ErrNoLeader: nobody leads the election at the moment.
var ErrNoLeader = errors.New("no leader")

// Campaign waits until this candidate leads, as [Client.Lock] waits for a lock:
// an election is a lock whose claims carry a value for others to read. The value
// is fixed when the candidate enters; resign with Unlock.
func (c *Client) Campaign(ctx context.Context, name string, value []byte) (*Lock, error) {
	return c.Acquire(ctx, candidacy(name, value))
}

// Campaign is [Client.Campaign] through this session.
func (s *Session) Campaign(ctx context.Context, name string, value []byte) (*Lock, error) {
	return s.Acquire(ctx, candidacy(name, value))
}

func candidacy(name string, value []byte) Request {
	if value == nil {
		value = []byte{} // candidates never stand in a local line, see queuesLocally
	}
	return Request{Name: name, Value: value}
}

// Leader returns the claim of whoever leads, with its value; ErrNoLeader if nobody
// does. It may have changed when the answer arrives.
func (c *Client) Leader(ctx context.Context, name string) (Claim, error) {
	if err := keys.CheckName(name); err != nil {
		return Claim{}, err
	}
	var leader *Claim
	err := c.during(ctx, func(ctx context.Context) (err error) {
		leader, err = c.oldestClaim(ctx, name)
		return err
	})
	switch {
	case err != nil:
		return Claim{}, fmt.Errorf("leader of %q: %w", name, err)
	case leader == nil:
		return Claim{}, fmt.Errorf("leader of %q: %w", name, ErrNoLeader)
	}
	return *leader, nil
}

// Observe yields the leader's claim whenever there is another leader, beginning
// with the present one, until ctx ends or the loop is left. Leaders that come and
// go between two looks may be skipped; the latest is not. An error is the last
// thing that it yields: ctx's own, ErrClosed, or what the cluster refused.
func (c *Client) Observe(ctx context.Context, name string) iter.Seq2[Claim, error] {
	return func(yield func(Claim, error) bool) {
		if err := keys.CheckName(name); err != nil {
			yield(Claim{}, err)
			return
		}
		ctx, cancel := c.whileOpen(ctx)
		defer cancel()
		var last Claim
		for {
			next, err := c.nextLeader(ctx, name, last)
			if err != nil {
				yield(Claim{}, fmt.Errorf("observe %q: %w", name, c.orClosed(err)))
				return
			}
			if last = next; !yield(next, nil) {
				return
			}
		}
	}
}

// nextLeader waits for a leader other than the last one. It tries for as long as
// ctx lasts, unless the cluster says no.
func (c *Client) nextLeader(ctx context.Context, name string, last Claim) (Claim, error) {
	for ctx.Err() == nil {
		leader, err := c.change(ctx, name, last)
		if err == nil {
			return leader, nil
		}
		c.log.Debug("observe: watch again", zap.String("election", name), zap.Error(err))
		if _, err := c.oldestClaim(ctx, name); outcome.Certain(err) {
			return Claim{}, err
		}
		outcome.Pause(ctx, watchPause)
	}
	return Claim{}, ctx.Err()
}

// change watches once. Its errors mean that the watch has to be made again.
func (c *Client) change(ctx context.Context, name string, last Claim) (Claim, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := target{key: last.Key}
	if last.Key == "" {
		watch = target{key: c.space.Queue(name), prefix: true, puts: true}
	}
	end, _, err := c.watchEnd(ctx, watch)
	if err != nil {
		return Claim{}, err
	}
	for {
		leader, err := c.oldestClaim(ctx, name)
		if err != nil {
			return Claim{}, err
		}
		if leader != nil && leader.Token != last.Token {
			return *leader, nil
		}
		if leader == nil && last.Key != "" { // nobody leads: any candidate may be next
			return c.change(ctx, name, Claim{ClaimValue: last.ClaimValue, Token: last.Token})
		}
		if _, err := await(ctx, time.After(reread()), end, nil); err != nil {
			return Claim{}, err
		}
	}
}

// oldestClaim reads the head of a lock's queue, nil if nobody stands there.
func (c *Client) oldestClaim(ctx context.Context, name string) (*Claim, error) {
	ctx, cancel := outcome.Bound(ctx, c.config.DialTimeout)
	defer cancel()
	p := place{lock: name, queue: c.space.Queue(name)}
	var found []*mvccpb.KeyValue
	err := outcome.Retry(ctx, func(ctx context.Context) error {
		resp, err := c.etcd.Do(ctx, p.oldest())
		if err == nil {
			found = resp.Get().Kvs
		}
		return err
	})
	if err != nil {
		return nil, outcome.OfRead(ctx, "read its queue", err, c.etcd.Endpoints())
	}
	return p.claimOf(found), nil
}
