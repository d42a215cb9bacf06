// When Watch asks for the leases of claims that have ended.

package client_test

import (
	"context"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// askingClient makes an etcd client that calls answered after each answer to the
// question whether a lease lasts, before it hands that on.
func askingClient(t *testing.T, cluster *clustertest.Cluster, answered func(lease int64)) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints: cluster.Endpoints(),
		Logger:    zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				err := invoke(ctx, method, req, reply, cc, opts...)
				if ask, ok := req.(*pb.LeaseTimeToLiveRequest); ok {
					answered(ask.ID)
				}
				return err
			})},
	})
	if err != nil {
		t.Fatalf("new etcd client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

// begun yields the events of a watch from the first one on, which it brings about
// itself.
func begun(t *testing.T, watcher, other *client.Client, each func(client.Event) (more bool)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	beginning, stop := context.WithCancel(ctx)
	var knocking sync.WaitGroup
	defer knocking.Wait()
	defer stop()
	knocking.Go(func() {
		for beginning.Err() == nil {
			unlock(t, hold(t, other, "begin"))
		}
	})
	for e, err := range watcher.Watch(ctx, "") {
		stop()
		if err != nil {
			t.Fatalf("watch: %v", err)
		}
		if !each(e) {
			return
		}
	}
}

// Whoever takes the events is busy while a lock is given back and the session is
// closed: the lease was asked for when it was still there.
func TestWatchAsksForLeasesBeforeItIsTaken(t *testing.T) {
	cluster := oneMember(t)
	asked := make(chan struct{}, 100)
	s := session(t, member(t, cluster, "a"), time.Minute)
	watcher := connect(t, client.Config{Etcd: askingClient(t, cluster, func(lease int64) {
		if lease == s.Lease() {
			asked <- struct{}{}
		}
	})})
	l := hold(t, s, "x")
	begun(t, watcher, member(t, cluster, "b"), func(e client.Event) bool {
		switch {
		case e.Claim.Lock == "x":
			if e.Kind != client.Released {
				t.Errorf("told that x was %s, want %s", e.Kind, client.Released)
			}
			return false
		case l.Err() == nil: // the first event, whatever it is
			unlock(t, l)
			receive(t, asked, "the question for the lease, while the loop is busy")
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		return true
	})
}

// Several locks are given back together, and the session is closed as soon as their
// lease was asked for: once is enough for all of them.
func TestWatchAsksOnceForLocksThatEndTogether(t *testing.T) {
	cluster := oneMember(t)
	s := session(t, member(t, cluster, "a"), time.Minute)
	watcher := connect(t, client.Config{Etcd: askingClient(t, cluster, func(lease int64) {
		if lease == s.Lease() {
			_ = s.Close()
		}
	})})
	l := holdAll(t, s, "x", "y")
	seen := 0
	begun(t, watcher, member(t, cluster, "b"), func(e client.Event) bool {
		switch {
		case e.Claim.Owner == "a":
			if e.Kind != client.Released {
				t.Errorf("told that %s was %s, want %s", e.Claim.Lock, e.Kind, client.Released)
			}
			seen++
		case l.Err() == nil:
			unlockAll(t, l)
		}
		return seen < 2
	})
}
