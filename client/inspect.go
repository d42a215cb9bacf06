package client

import (
	"context"
	"fmt"
	"iter"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// LockInfo is one lock as it was at one revision.
type LockInfo struct {
	Name     string
	Holders  []Claim // one, or several if they share the lock; none: the lock is free
	Waiters  []Claim // in the order in which they will hold
	Revision int64   // of the store, when this was read
}

// inspectPage is how many claims one request reads.
const inspectPage = 500

// Inspect reads one lock: who holds it and who waits. A lock that nobody claims
// is free, which is no error.
func (c *Client) Inspect(ctx context.Context, name string) (LockInfo, error) {
	if err := keys.CheckName(name); err != nil {
		return LockInfo{}, err
	}
	page, err := c.readClaims(ctx, c.space.Queue(name), clientv3.GetPrefixRangeEnd(c.space.Queue(name)), 0, 0)
	if err != nil {
		return LockInfo{}, fmt.Errorf("inspect %q: %w", name, err)
	}
	return c.infoOf(name, page.claims, page.revision), nil
}

// Locks lists the locks that somebody claims and whose names begin with prefix, in
// the order of their keys, all at one revision. An error is the last thing that
// it yields.
func (c *Client) Locks(ctx context.Context, prefix string) iter.Seq2[LockInfo, error] {
	return func(yield func(LockInfo, error) bool) {
		if err := keys.CheckPrefix(prefix); err != nil {
			yield(LockInfo{}, err)
			return
		}
		if err := c.eachLock(ctx, prefix, yield); err != nil {
			yield(LockInfo{}, fmt.Errorf("list locks: %w", err))
		}
	}
}

// eachLock reads page after page and yields each lock when its last claim has
// been read: the claims of one lock lie together.
func (c *Client) eachLock(ctx context.Context, prefix string, yield func(LockInfo, error) bool) error {
	from := c.space.Locks(prefix)
	end := clientv3.GetPrefixRangeEnd(from)
	var of []Claim // of the lock being read
	var revision int64
	for more := true; more; {
		page, err := c.readClaims(ctx, from, end, inspectPage, revision)
		if err != nil {
			return err
		}
		revision, more, from = page.revision, page.more, page.next
		for _, claim := range page.claims {
			if !strings.HasPrefix(claim.Lock, prefix) {
				continue // of lock "a", whose keys begin with "a/", too
			}
			if len(of) > 0 && of[0].Lock != claim.Lock {
				if !yield(c.infoOf(of[0].Lock, of, revision), nil) {
					return nil
				}
				of = nil
			}
			of = append(of, claim)
		}
	}
	if len(of) > 0 {
		yield(c.infoOf(of[0].Lock, of, revision), nil)
	}
	return nil
}

// claimPage is a part of the claims in a range of keys.
type claimPage struct {
	claims   []Claim
	revision int64
	more     bool
	next     string // where the next page begins
}

// readClaims reads up to limit claims (0: all) from a range of keys, at a revision
// (0: now).
func (c *Client) readClaims(ctx context.Context, from, end string, limit, revision int64) (claimPage, error) {
	var resp *clientv3.GetResponse
	err := c.during(ctx, func(ctx context.Context) error {
		ctx, cancel := outcome.Bound(ctx, c.config.DialTimeout)
		defer cancel()
		err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
			resp, err = c.etcd.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(limit), clientv3.WithRev(revision))
			return err
		})
		if err != nil {
			return outcome.OfRead(ctx, "read claims", err, c.etcd.Endpoints())
		}
		return nil
	})
	if err != nil {
		return claimPage{}, err
	}
	page := claimPage{revision: resp.Header.Revision, more: resp.More}
	if revision != 0 {
		page.revision = revision
	}
	for _, found := range resp.Kvs {
		page.next = string(found.Key) + "\x00"
		if lock, ok := c.space.LockOf(string(found.Key)); ok {
			page.claims = append(page.claims, claimFrom(lock, found))
		}
	}
	return page, nil
}

func (c *Client) infoOf(lock string, claims []Claim, revision int64) LockInfo {
	queue.Sort(claims)
	holders, waiters := queue.Split(claims)
	return LockInfo{Name: lock, Holders: holders, Waiters: waiters, Revision: revision}
}
