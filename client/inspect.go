package client

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// LockInfo is one lock as it was at one revision.
type LockInfo struct {
	Name     string
	Holders  []Claim // one, or several if they share the lock; none: the lock is free
	Waiters  []Claim // in the order in which they will hold
	Revision int64   // of the store, when this was read

	// Fence is the highest token that the fence of the key-value layer has admitted
	// behind this lock; 0: none yet. Inspect reads it, Locks leaves it 0.
	Fence fencing.Token
	// FenceShared says that shared holders have raised the fence last, FenceClosed
	// that a break or a restore has closed it: Fence itself is refused then, too.
	FenceShared, FenceClosed bool
}

// inspectPage is how many claims one request reads.
const inspectPage = 500

// Inspect reads one lock: who holds it, who waits, and where its fence stands. A
// lock that nobody claims is free, which is no error. A fence that cannot be read
// is one, beside the rest of what was read.
func (c *Client) Inspect(ctx context.Context, name string) (LockInfo, error) {
	if err := keys.CheckName(name); err != nil {
		return LockInfo{}, err
	}
	queue, fence := clientv3.OpGet(c.space.Queue(name), clientv3.WithPrefix()), clientv3.OpGet(c.space.Fence(name))
	var resp *clientv3.TxnResponse
	err := c.ask(ctx, "read claims and fence", func(ctx context.Context) (err error) {
		resp, err = c.etcd.Txn(ctx).Then(queue, fence).Commit()
		return err
	})
	if err != nil {
		return LockInfo{}, fmt.Errorf("inspect %q: %w", name, err)
	}
	info := c.infoOf(name, c.claimsIn(kvs(resp, 0)), resp.Header.Revision)
	if err := info.setFence(one(kvs(resp, 1))); err != nil {
		return info, fmt.Errorf("inspect %q: %w", name, err)
	}
	return info, nil
}

func (info *LockInfo) setFence(found *mvccpb.KeyValue) error {
	if found == nil {
		return nil
	}
	fence, err := keys.ParseFence(string(found.Value))
	if err != nil {
		return err
	}
	info.Fence, info.FenceShared, info.FenceClosed = fence.Token(), fence.IsShared(), fence.IsClosed()
	return nil
}

// TTLLeft asks how long a claim lasts if its session is not renewed any more; 0 if
// its lease has ended. It costs one request, so ask for those who are shown; calls
// may be made side by side. A claim that has no lease never ends by itself, which
// is an error here.
func (c *Client) TTLLeft(ctx context.Context, of Claim) (time.Duration, error) {
	if of.Lease == 0 {
		return 0, fmt.Errorf("time left of %s: the key has no lease, so it will never end by itself: delete it if nobody owns it", of.Key)
	}
	var left *clientv3.LeaseTimeToLiveResponse
	err := c.ask(ctx, fmt.Sprintf("time left of lease %x", of.Lease), func(ctx context.Context) (err error) {
		left, err = c.etcd.TimeToLive(ctx, clientv3.LeaseID(of.Lease))
		return err
	})
	if err != nil {
		return 0, err
	}
	return time.Duration(max(left.TTL, 0)) * time.Second, nil
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
			yield(LockInfo{}, fmt.Errorf("list locks that begin with %q: %w", prefix, err))
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
	err := c.ask(ctx, "read claims", func(ctx context.Context) (err error) {
		resp, err = c.etcd.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(limit), clientv3.WithRev(revision))
		return err
	})
	if err != nil {
		return claimPage{}, err
	}
	page := claimPage{revision: resp.Header.Revision, more: resp.More}
	if revision != 0 {
		page.revision = revision
	}
	page.claims = c.claimsIn(resp.Kvs)
	if n := len(resp.Kvs); n > 0 {
		page.next = string(resp.Kvs[n-1].Key) + "\x00"
	}
	return page, nil
}

// ask makes a request that only reads, in bounded time.
func (c *Client) ask(ctx context.Context, doing string, send func(context.Context) error) error {
	return c.during(ctx, func(ctx context.Context) error {
		ctx, cancel := outcome.Bound(ctx, c.config.DialTimeout)
		defer cancel()
		if err := outcome.Retry(ctx, send); err != nil {
			return outcome.OfRead(ctx, doing, err, c.etcd.Endpoints())
		}
		return nil
	})
}

// claimsIn are the claims among keys that were read.
func (c *Client) claimsIn(found []*mvccpb.KeyValue) (claims []Claim) {
	for _, kv := range found {
		if lock, ok := c.space.LockOf(string(kv.Key)); ok {
			claims = append(claims, claimFrom(lock, kv))
		}
	}
	return claims
}

func (c *Client) infoOf(lock string, claims []Claim, revision int64) LockInfo {
	queue.Sort(claims)
	holders, waiters := queue.Split(claims)
	return LockInfo{Name: lock, Holders: holders, Waiters: waiters, Revision: revision}
}
