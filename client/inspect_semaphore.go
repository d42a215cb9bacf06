package client

import (
	"context"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing/keys"
)

// SemaphoreInfo is one semaphore as it was at one revision.
type SemaphoreInfo struct {
	Name     string
	Limit    int     // how many may hold at once; 0: nobody has ever used it
	Holders  []Claim // at most Limit, in the order in which they came
	Waiters  []Claim // in the order in which they will hold
	Revision int64   // of the store, when this was read
}

// InspectSemaphore reads who holds a semaphore's permits, and who waits for one. A
// semaphore that nobody has used is no error.
func (c *Client) InspectSemaphore(ctx context.Context, name string) (SemaphoreInfo, error) {
	if err := keys.CheckName(name); err != nil {
		return SemaphoreInfo{}, err
	}
	permits, limit := clientv3.OpGet(c.space.Permits(name), clientv3.WithPrefix()), clientv3.OpGet(c.space.Limit(name))
	var resp *clientv3.TxnResponse
	err := c.ask(ctx, "read claims and limit", func(ctx context.Context) (err error) {
		resp, err = c.etcd.Txn(ctx).Then(permits, limit).Commit()
		return err
	})
	if err != nil {
		return SemaphoreInfo{}, fmt.Errorf("inspect semaphore %q: %w", name, err)
	}
	info := SemaphoreInfo{Name: name, Revision: resp.Header.Revision}
	if found := one(kvs(resp, 1)); found != nil {
		if info.Limit, err = strconv.Atoi(string(found.Value)); err != nil {
			return info, fmt.Errorf("inspect semaphore %q: its limit %q is no number", name, found.Value)
		}
	}
	var claims []Claim
	for _, kv := range kvs(resp, 0) {
		claims = append(claims, claimFrom(name, kv))
	}
	queue.Sort(claims)
	n := min(info.Limit, len(claims))
	info.Holders, info.Waiters = claims[:n:n], claims[n:]
	return info, nil
}
