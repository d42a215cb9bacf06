package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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

// costs counts what clients ask of their members.
type costs struct{ watches, reads, writes atomic.Int64 }

func (c *costs) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if txn, ok := req.(*pb.TxnRequest); ok {
		count := &c.reads
		for _, op := range append(txn.Success, txn.Failure...) {
			if op.GetRequestRange() == nil {
				count = &c.writes
			}
		}
		count.Add(1)
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

func (c *costs) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, cc, method, opts...)
	return costlyStream{stream, c}, err
}

type costlyStream struct {
	grpc.ClientStream
	of *costs
}

func (s costlyStream) SendMsg(m any) error {
	if w, ok := m.(*pb.WatchRequest); ok && w.GetCreateRequest() != nil {
		s.of.watches.Add(1)
	}
	return s.ClientStream.SendMsg(m)
}

// client makes a client whose requests are counted.
func (c *costs) client(t *testing.T, cluster *clustertest.Cluster) *client.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: cluster.Endpoints(), Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(c.unary), grpc.WithChainStreamInterceptor(c.stream)}})
	if err != nil {
		t.Fatalf("new etcd client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return connect(t, client.Config{Etcd: etcd, TTL: time.Minute})
}

// A lock that goes round among the same sessions costs two writes for each change of
// owner and, with more than two of them, a read; watches are kept. On a machine that is
// so busy that a wait lasts for long it costs more, so the cheapest of some turns counts.
func TestCostOfAHandOver(t *testing.T) {
	for clients, atMost := range map[int]struct{ reads, watches float64 }{2: {0.3, 0.2}, 5: {1.3, 0.3}} {
		t.Run(fmt.Sprint(clients, " clients"), func(t *testing.T) {
			cluster := oneMember(t)
			for turns := 5; ; turns-- {
				writes, reads, watches := costOfHandOvers(t, cluster, clients)
				t.Logf("for each hand-over %.2f writes, %.2f reads, %.2f watches", writes, reads, watches)
				if reads <= atMost.reads && watches <= atMost.watches {
					return
				}
				if turns == 0 {
					t.Fatalf("want at most %v reads and %v watches", atMost.reads, atMost.watches)
				}
			}
		})
	}
}

// costOfHandOvers has clients lock and unlock one lock over and over, and returns what
// each time has cost.
func costOfHandOvers(t *testing.T, cluster *clustertest.Cluster, clients int) (writes, reads, watches float64) {
	t.Helper()
	const rounds = 60
	var cost costs
	var going sync.WaitGroup
	for range clients {
		c := cost.client(t, cluster)
		going.Go(func() {
			for range rounds {
				l, err := c.Lock(context.Background(), "orders")
				if err == nil {
					err = l.Unlock(context.Background())
				}
				if err != nil {
					t.Errorf("lock and unlock: %v", err)
				}
			}
		})
	}
	going.Wait()
	per := func(n *atomic.Int64) float64 { return float64(n.Load()) / rounds / float64(clients) }
	return per(&cost.writes), per(&cost.reads), per(&cost.watches)
}

// waitOnce has a session wait for a lock once, and hold it: it keeps a watch on the
// holder's key from then on.
func waitOnce(t *testing.T, etcd *clientv3.Client, holder, waiter *client.Session, name string) {
	t.Helper()
	held := hold(t, holder, name)
	waiting := waitFor(t, etcd, waiter, name, 2)
	unlock(t, held)
	unlock(t, granted(t, waiting))
}

// While nobody waits, the key that a kept watch is for is put and deleted again and
// again. None of that ends the next wait for it.
func TestKeptWatchTellsOfEarlierEnds(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	confirmed := make(watchCounter, 1000)
	own, err := clientv3.New(clientv3.Config{Endpoints: cluster.Endpoints(), Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainStreamInterceptor(confirmed.intercept)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	holder := session(t, member(t, cluster, "holder"), time.Minute)
	waiter := session(t, connect(t, client.Config{Etcd: own}), time.Minute)
	waitOnce(t, etcd, holder, waiter, "orders")
	for range 20 {
		unlock(t, hold(t, holder, "orders"))
	}
	if n := len(waiter.KeptWatches()); n != 1 {
		t.Fatalf("%d watches are kept, want one", n)
	}
	for len(confirmed) > 0 {
		<-confirmed
	}
	held := hold(t, holder, "orders")
	waiting := goLock(context.Background(), waiter, "orders")
	select {
	case <-confirmed: // it has heard of all that, and now watches its own claim, too
	case got := <-waiting:
		t.Fatalf("got %v, %v while another holds", got.lock, got.err)
	}
	unlock(t, held)
	unlock(t, granted(t, waiting))
}

// The watch was kept on a member that is cut off, or its connection and its history
// are gone: the next wait is over all the same.
func TestKeptWatchThatIsOver(t *testing.T) {
	for how, spoil := range map[string]func(*testing.T, *clustertest.Cluster, *netfault.Proxy){
		"the member is cut off": func(_ *testing.T, cluster *clustertest.Cluster, _ *netfault.Proxy) { cluster.Isolate(0) },
		"the member hangs":      func(_ *testing.T, _ *clustertest.Cluster, proxy *netfault.Proxy) { proxy.Stall() },
		"the history is compacted": func(t *testing.T, cluster *clustertest.Cluster, proxy *netfault.Proxy) {
			proxy.Refuse()
			proxy.Reset()
			etcd := cluster.MemberClient(t, 1)
			for range 20 {
				if _, err := etcd.Put(t.Context(), "busy", "x"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := etcd.Compact(t.Context(), revision(t, etcd), clientv3.WithCompactPhysical()); err != nil {
				t.Fatal(err)
			}
			proxy.Pass()
		},
		"another leads": func(t *testing.T, cluster *clustertest.Cluster, _ *netfault.Proxy) {
			status, err := cluster.MemberClient(t, 0).Status(t.Context(), cluster.Endpoint(0))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if id := memberID(t, cluster, i); id == status.Leader {
					if _, err := cluster.MemberClient(t, i).MoveLeader(t.Context(), memberID(t, cluster, (i+1)%3)); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cluster := clustertest.Start(t, 3)
			etcd := cluster.MemberClient(t, 1)
			proxy := netfault.New(t, cluster.Endpoint(0))
			own, err := clientv3.New(clientv3.Config{Endpoints: []string{proxy.Addr()}, Logger: zap.NewNop()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = own.Close() })
			holder := session(t, connect(t, client.Config{Endpoints: cluster.Endpoints()[1:]}), time.Minute)
			waiter := session(t, connect(t, client.Config{Etcd: own, DialTimeout: limit}), time.Minute)
			waitOnce(t, etcd, holder, waiter, "orders")
			own.SetEndpoints(proxy.Addr(), cluster.Endpoint(1), cluster.Endpoint(2))
			spoil(t, cluster, proxy)
			held := hold(t, holder, "orders")
			waiting := waitFor(t, etcd, waiter, "orders", 2)
			unlock(t, held)
			if got := receiveWithin(t, 20*time.Second, waiting, "the second wait"); got.err != nil {
				t.Errorf("got %v, want the lock", got.err)
			}
		})
	}
}

func memberID(t *testing.T, cluster *clustertest.Cluster, i int) uint64 {
	t.Helper()
	status, err := cluster.MemberClient(t, i).Status(t.Context(), cluster.Endpoint(i))
	if err != nil {
		t.Fatal(err)
	}
	return status.Header.MemberId
}

// A session that has waited for many locks keeps a few watches, for a few seconds,
// and none beyond its end.
func TestKeptWatchesAreFew(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	holder := session(t, member(t, cluster, "holder"), time.Minute)
	c := member(t, cluster, "waiter")
	mortal, patient := session(t, c, time.Minute), session(t, c, time.Minute)
	waitOnce(t, etcd, holder, mortal, "orders/0")
	waitOnce(t, etcd, holder, patient, "orders/0")
	first := patient.KeptWatches()
	ended := append(mortal.KeptWatches(), first...)
	if len(ended) != 2 {
		t.Fatalf("%d watches are kept after a wait of two sessions, want two", len(ended))
	}
	if err := mortal.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for i := range client.MaxKept + 2 {
		waitOnce(t, etcd, holder, patient, fmt.Sprint("orders/", i+1))
		if n := len(patient.KeptWatches()); n > client.MaxKept {
			t.Fatalf("%d watches are kept, want at most %d", n, client.MaxKept)
		}
	}
	ended = append(ended, patient.KeptWatches()...)
	eventually(t, limit, "no watch is kept", func() bool { return len(patient.KeptWatches()) == 0 })
	for _, watch := range ended {
		mustBeOver(t, watch)
	}
}

// mustBeOver waits until a watch has been closed.
func mustBeOver(t *testing.T, watch clientv3.WatchChan) {
	t.Helper()
	for open := true; open; {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		select {
		case _, open = <-watch:
		case <-ctx.Done():
			t.Error("a watch that is kept no longer goes on, want it closed")
			open = false
		}
		cancel()
	}
}

// Who waits behind a waiter does not hold when that one leaves.
func TestWaiterBehindAWaiterThatLeaves(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	ctx, leave := context.WithCancel(t.Context())
	between := goLock(ctx, member(t, cluster, "between"), "orders")
	awaitQueue(t, etcd, "orders", 2)
	var f faults
	last := waitFor(t, etcd, connect(t, client.Config{Etcd: f.client(t, cluster)}), "orders", 3)
	looks := f.set(2, look, pass)
	leave()
	mustBe(t, "the one between", receive(t, between, "the one between").err, context.Canceled)
	for range 2 { // when that one has left, and when it has been patient for a while
		select {
		case <-looks.Done:
		case got := <-last:
			t.Fatalf("got %v, %v while another holds", got.lock, got.err)
		}
	}
	unlock(t, held)
	unlock(t, granted(t, last))
}

// A lock that was granted by the event of the holder's end alone works behind the
// fence as any other: the first operation finds the fence where the holder left it.
func TestStoreAfterAHandOver(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	holder := session(t, member(t, cluster, "holder"), time.Minute)
	waiter := session(t, member(t, cluster, "waiter"), time.Minute)
	for i := range 3 {
		held := hold(t, holder, "orders")
		waiting := waitFor(t, etcd, waiter, "orders", 2)
		late := held.KV()
		if _, err := late.Put(t.Context(), "n", []byte(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		unlock(t, held)
		next := granted(t, waiting)
		before := revision(t, etcd)
		record, err := next.KV().Get(t.Context(), "n")
		if err != nil || string(record.Value) != fmt.Sprint(i) {
			t.Errorf("Get of the next holder: got %q, %v, want %d", record.Value, err, i)
		}
		if commits := revision(t, etcd) - before; commits != 1 {
			t.Errorf("its first operation changed the store %d times, want once: it claims the fence", commits)
		}
		if _, err := late.Put(t.Context(), "n", []byte("late")); err == nil || errors.Is(err, client.ErrUncertain) {
			t.Errorf("Put of the one before: got %v, want a refusal", err)
		}
		unlock(t, next)
	}
}
