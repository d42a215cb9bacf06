package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/test/netfault"
)

// watchCounter tells when watches have been confirmed.
type watchCounter chan struct{}

func (w watchCounter) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, cc, method, opts...)
	return countedStream{stream, w}, err
}

type countedStream struct {
	grpc.ClientStream
	confirmed watchCounter
}

func (s countedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if w, ok := m.(*pb.WatchResponse); ok && err == nil && w.Created {
		s.confirmed <- struct{}{}
	}
	return err
}

// look matches transactions by which a waiter reads the queue.
func look(txn *pb.TxnRequest) bool {
	for _, op := range append(txn.Success, txn.Failure...) {
		if op.GetRequestRange() == nil {
			return false
		}
	}
	return len(txn.Compare) == 1
}

// waitOn waits for locks that another holds, through a client whose watches lie on
// the first endpoint, and that knows of all of them by now. When it returns, there
// is nothing left for the client to do than to wait. The result is of the last one.
func waitOn(t *testing.T, endpoints []string, names ...string) (waiting <-chan result, confirmed watchCounter) {
	t.Helper()
	confirmed = make(watchCounter, 1000)
	var f faults
	looks := f.set(len(names), look, pass)
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints[:1],
		Logger:      zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainStreamInterceptor(confirmed.intercept), grpc.WithChainUnaryInterceptor(f.intercept)},
	})
	if err != nil {
		t.Fatalf("new etcd client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	c := connect(t, client.Config{Etcd: etcd, Owner: "waiter", TTL: time.Minute})
	for _, name := range names {
		waiting = goLock(context.Background(), c, name)
		for range 2 { // of the claim ahead and of its own
			receive(t, confirmed, "confirmation of a watch")
		}
		receive(t, looks.Done, "a look at the queue")
	}
	etcd.SetEndpoints(endpoints...)
	return waiting, confirmed
}

// The member that serves the watch is cut off, and the unlock happens on the others.
func TestWaiterLeavesAMemberThatIsCutOff(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	held := hold(t, connect(t, client.Config{Endpoints: cluster.Endpoints()[1:], TTL: time.Minute}), "orders")
	waiting, _ := waitOn(t, cluster.Endpoints(), "orders")
	cluster.Isolate(0)
	unlock(t, held)
	if got := receiveWithin(t, 10*time.Second, waiting, "a waiter whose member is cut off"); got.err != nil {
		t.Errorf("got %v, want the lock", got.err)
	}
}

// The member that serves the watch hangs: no packet, no reset.
func TestWaiterLeavesAMemberThatHangs(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	held := hold(t, connect(t, client.Config{Endpoints: cluster.Endpoints()[1:], TTL: time.Minute}), "orders")
	proxy := netfault.New(t, cluster.Endpoint(0))
	waiting, _ := waitOn(t, append([]string{proxy.Addr()}, cluster.Endpoints()[1:]...), "orders")
	proxy.Stall()
	unlock(t, held)
	// It reads the queue every 3 to 6 s, and a read that hangs takes 1.7 s.
	if got := receiveWithin(t, 12*time.Second, waiting, "a waiter whose member hangs"); got.err != nil {
		t.Errorf("got %v, want the lock", got.err)
	}
}

// And when it has to wait on, it takes its watch to a member that answers, and is
// quick again.
func TestWaiterTakesItsWatchElsewhere(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	etcd := cluster.MemberClient(t, 1)
	healthy := connect(t, client.Config{Endpoints: cluster.Endpoints()[1:], TTL: time.Minute})
	held := hold(t, healthy, "orders")
	ctx, cancel := context.WithCancel(t.Context())
	between := goLock(ctx, session(t, healthy, time.Minute), "orders")
	awaitQueue(t, etcd, "orders", 2)
	proxy := netfault.New(t, cluster.Endpoint(0))
	hold(t, healthy, "parked") // the wait for it keeps the stream on the member that hangs
	waiting, confirmed := waitOn(t, append([]string{proxy.Addr()}, cluster.Endpoints()[1:]...), "parked", "orders")
	proxy.Stall()
	cancel() // it has somebody else to wait for now, and hears nothing of it
	mustBe(t, "the one between", receive(t, between, "the one between").err, context.Canceled)
	for range 2 {
		receive(t, confirmed, "confirmation of a watch on another member")
	}
	start := time.Now()
	unlock(t, held)
	got := receive(t, waiting, "the waiter")
	if took := got.at.Sub(start); got.err != nil || took > 2*time.Second {
		t.Errorf("got %v after %v, want the lock within milliseconds", got.err, took)
	}
}

// A waiter hears nothing while a thousand writes and a compaction happen: its watch
// cannot be resumed.
func TestWaiterIsCutOffDuringACompaction(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, connect(t, client.Config{Endpoints: cluster.Endpoints(), TTL: time.Minute}), "orders")
	proxy := netfault.New(t, cluster.Endpoint(0))
	waiting, _ := waitOn(t, []string{proxy.Addr()}, "orders")
	proxy.Refuse()
	proxy.Reset()
	for range 1000 {
		if _, err := etcd.Put(t.Context(), "busy", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := etcd.Compact(t.Context(), revision(t, etcd), clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	proxy.Pass()
	unlock(t, held)
	if got := receiveWithin(t, 15*time.Second, waiting, "a waiter after a compaction"); got.err != nil {
		t.Errorf("got %v, want the lock", got.err)
	}
}

// Connections are reset all the time while a lock goes from hand to hand: no waiter
// is forgotten, and nobody holds beside another.
func TestHandOversSurviveResets(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	const workers, resets = 6, 60
	var clients []*client.Client
	var proxies []*netfault.Proxy
	for range 3 {
		proxy := netfault.New(t, cluster.Endpoint(0))
		proxies = append(proxies, proxy)
		clients = append(clients, connect(t, client.Config{Endpoints: []string{proxy.Addr()}, TTL: time.Minute}))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var s section
	counts := make(chan int64, workers)
	for i := range workers {
		go func() {
			n := int64(0)
			for ctx.Err() == nil {
				n += passOnce(t, clients[i%3], &s)
			}
			counts <- n
		}()
	}
	ticker := time.NewTicker(60 * time.Millisecond)
	defer ticker.Stop()
	for i := range resets {
		<-ticker.C
		proxies[i%3].Reset()
	}
	stop()
	want := int64(0)
	for range workers {
		want += receive(t, counts, "a worker's last lock")
	}
	got := s.passed.Load()
	t.Logf("%d hand-overs amid %d resets", got, resets)
	if got != want || got < resets/2 {
		t.Errorf("the lock was held %d times, want %d, and at least %d", got, want, resets/2)
	}
	awaitQueue(t, cluster.Client(t), "orders", 0)
}

// passOnce goes through the section under the lock, and counts it.
func passOnce(t *testing.T, c *client.Client, s *section) int64 {
	l, err := c.Lock(context.Background(), "orders")
	if err != nil {
		t.Errorf("lock: %v", err)
		return 0
	}
	s.pass(t)
	if err := l.Unlock(context.Background()); err != nil && !errors.Is(err, client.ErrUncertain) {
		t.Errorf("unlock: %v", err)
	}
	return 1
}
