package client_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// renewalCounter counts the renewals of a client.
type renewalCounter struct{ renewed atomic.Int64 }

func (c *renewalCounter) Acquired(time.Duration, error)        {}
func (c *renewalCounter) Ended(time.Duration, error)           {}
func (c *renewalCounter) Renewed(time.Duration, error)         { c.renewed.Add(1) }
func (c *renewalCounter) Refused(string, fencing.Token, error) {}

// About three renewals per TTL and session, however many locks it holds and has held.
func TestRenewalsPerTTL(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	const sessions, ttl, ttls = 4, 2 * time.Second, 4
	var count renewalCounter
	c := connect(t, client.Config{Endpoints: cluster.Endpoints(), Observer: &count})
	var all []*client.Session
	for i := range sessions {
		s := session(t, c, ttl)
		all = append(all, s)
		for j := range 5 {
			hold(t, s, fmt.Sprint("held/", i, "/", j))
		}
	}
	before, begin := count.renewed.Load(), time.Now()
	for i := 0; time.Since(begin) < ttls*ttl; i++ {
		unlock(t, hold(t, all[i%sessions], fmt.Sprint("short/", i%sessions)))
	}
	took := time.Since(begin)
	perTTL := float64(count.renewed.Load()-before) / sessions / (float64(took) / float64(ttl))
	t.Logf("%.2f renewals per TTL and session", perTTL)
	if perTTL < 2 || perTTL > 3.5 {
		t.Errorf("%.2f renewals per TTL and session, want about 3", perTTL)
	}
	for _, s := range all {
		if err := s.Err(); err != nil {
			t.Errorf("session: %v", err)
		}
	}
}

// shortLocks is how many locks each case of TestShortLocksLeaveNothing takes; a million, say, with
// FENCELOCK_TEST_SHORT_LOCKS=1000000.
func shortLocks(t *testing.T) int {
	text, set := os.LookupEnv("FENCELOCK_TEST_SHORT_LOCKS")
	if !set {
		return 10_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 {
		t.Fatalf("FENCELOCK_TEST_SHORT_LOCKS=%q: want a number, at least 1000", text)
	}
	return n
}

// Many short locks, each of another name, or all of a few: the memory of server and
// client, which are one process here, levels off, and so do keys, leases and
// goroutines. The history is compacted now and then, as a server does every five
// minutes.
func TestShortLocksLeaveNothing(t *testing.T) {
	t.Run("names once", func(t *testing.T) { shortLocksLeaveNothing(t, math.MaxInt) })
	t.Run("few names", func(t *testing.T) { shortLocksLeaveNothing(t, 5) })
}

func shortLocksLeaveNothing(t *testing.T, names int) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := connect(t, client.Config{Endpoints: cluster.Endpoints(), DialTimeout: limit, TTL: time.Minute}) // the machine may be busy for long
	const stages = 10
	n := shortLocks(t) / stages
	var heaps [stages]uint64
	var routines [stages]int
	for stage := range stages {
		lockMany(t, c, stage*n, n, names)
		compact(t, etcd)
		heaps[stage], routines[stage] = heapNow(), runtime.NumGoroutine()
		t.Logf("after %d locks: heap %.1f MiB, %d goroutines", (stage+1)*n, float64(heaps[stage])/(1<<20), routines[stage])
	}
	const slack = 6 << 20 // buffers come and go
	if first, last := heaps[stages/2-1], heaps[stages-1]; last > first+slack {
		t.Errorf("the heap went from %d bytes after half of the locks to %d after all", first, last)
	}
	if first, last := routines[0], routines[stages-1]; last > first+20 {
		t.Errorf("%d goroutines after the first locks, %d after the last", first, last)
	}
	keys, err := etcd.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || keys.Count != 0 {
		t.Errorf("keys left: %+v, %v, want none", keys, err)
	}
	if leases, err := etcd.Leases(t.Context()); err != nil || len(leases.Leases) != 1 {
		t.Errorf("leases: %v, %v, want that of the one session", leases, err)
	}
}

// lockMany takes n locks, beginning with the i-th of so many names, by several
// goroutines.
func lockMany(t *testing.T, c *client.Client, i, n, names int) {
	t.Helper()
	var next atomic.Int64
	var locking sync.WaitGroup
	for range 16 {
		locking.Go(func() {
			for k := next.Add(1); k <= int64(n) && !t.Failed(); k = next.Add(1) {
				l, err := c.Lock(context.Background(), fmt.Sprint("order/", (i+int(k))%names))
				if err == nil {
					err = l.Unlock(context.Background())
				}
				if err != nil {
					t.Errorf("lock and unlock: %v", err)
				}
			}
		})
	}
	locking.Wait()
}

// compact forgets the history; the member may have done so already by itself.
func compact(t *testing.T, etcd *clientv3.Client) {
	t.Helper()
	_, err := etcd.Compact(t.Context(), revision(t, etcd), clientv3.WithCompactPhysical())
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		t.Fatalf("compact: %v", err)
	}
}

func heapNow() uint64 {
	runtime.GC()
	runtime.GC() // finalizers have run, and what they let go of is swept
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// eventCounter counts the events that a client's watches are sent.
type eventCounter struct{ events atomic.Int64 }

func (c *eventCounter) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, cc, method, opts...)
	return eventStream{stream, c}, err
}

type eventStream struct {
	grpc.ClientStream
	count *eventCounter
}

func (s eventStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if w, ok := m.(*pb.WatchResponse); ok && err == nil {
		s.count.events.Add(int64(len(w.Events)))
	}
	return err
}

// The number of events per hand-over does not grow with the number of waiters.
func TestEventsPerHandOver(t *testing.T) {
	t.Parallel()
	for _, waiters := range []int{50, 200} {
		if perHandOver := eventsPerHandOver(t, waiters); perHandOver > 2.5 {
			t.Errorf("%d waiters: %.2f events per hand-over, want about one", waiters, perHandOver)
		}
	}
}

func eventsPerHandOver(t *testing.T, waiters int) float64 {
	t.Helper()
	cluster := oneMember(t)
	var count eventCounter
	etcd, err := clientv3.New(clientv3.Config{Endpoints: cluster.Endpoints(), Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainStreamInterceptor(count.intercept)}})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	c := connect(t, client.Config{Etcd: etcd})
	first := hold(t, c, "orders")
	locked := make(chan result, waiters)
	for range waiters {
		s := session(t, c, time.Minute) // each with a claim of its own
		go func() {
			l, err := s.Lock(context.Background(), "orders")
			locked <- result{lock: l, err: err}
		}()
	}
	awaitQueue(t, cluster.Client(t), "orders", waiters+1)
	before := count.events.Load()
	unlock(t, first)
	for range waiters {
		unlock(t, granted(t, locked))
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	perHandOver := float64(count.events.Load()-before) / float64(waiters)
	t.Logf("%d waiters: %.2f events per hand-over", waiters, perHandOver)
	return perHandOver
}
