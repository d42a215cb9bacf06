package client

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// Endpoints of two clusters give a lock a holder in each, and each reads its own
// records behind its own fence. Members refuse peers of other clusters; a client has
// to notice by itself. Every answer names its cluster:
//
//	A, A, B, B, B …   the cluster was restored, or made anew: A has ended
//	A, B, A, …        there are two
//
// An answer of a cluster that has been left is an error for a while after that; the
// request may have been carried out there, as with any answer that is lost.

// leftTime is for how long the answers of a cluster are refused when another one has
// answered. Whoever goes back to an old cluster on purpose has to wait that long.
const leftTime = time.Minute

// clusters is what a client knows of the clusters that have answered it.
type clusters struct {
	mu      sync.Mutex
	current uint64 // the cluster id of the last answer; 0: none yet
	left    map[uint64]time.Time
}

func (c *clusters) option() grpc.DialOption { return grpc.WithChainUnaryInterceptor(c.intercept) }

func (c *clusters) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := invoke(ctx, method, req, reply, cc, opts...); err != nil || !anyMember(method) {
		return err
	}
	answer, ok := reply.(interface{ GetHeader() *pb.ResponseHeader })
	if !ok {
		return nil
	}
	return c.answered(answer.GetHeader().GetClusterId(), time.Now())
}

// anyMember reports whether a request goes to whichever member the connection picks.
// Others are for one endpoint, such as that for its status, and say what is there.
func anyMember(method string) bool {
	return strings.HasPrefix(method, "/etcdserverpb.KV/") || strings.HasPrefix(method, "/etcdserverpb.Lease/")
}

// answered refuses an answer of a cluster that another one has replaced.
func (c *clusters) answered(id uint64, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == 0 || id == c.current {
		return nil
	}
	if now.Sub(c.left[id]) < leftTime {
		return fmt.Errorf("%w, %x and %x: a lock would have a holder in each; give the endpoints of one only, and stop the other if it was restored into this one",
			ErrTwoClusters, id, c.current)
	}
	if c.left == nil {
		c.left = map[uint64]time.Time{}
	}
	for other, since := range c.left {
		if now.Sub(since) >= leftTime {
			delete(c.left, other)
		}
	}
	if c.current != 0 {
		c.left[c.current] = now
	}
	c.current = id
	return nil
}
