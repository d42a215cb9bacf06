package client_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fencelock/fencelock/client"
)

// A time-out says who holds the lock: the head of the queue, not merely the
// claim before one's own.
func TestTimeOutNamesTheHolder(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	between := waitFor(t, etcd, member(t, cluster, "between"), "orders", 2)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := member(t, cluster, "late").Lock(ctx, "orders")
	mustBe(t, "Lock", err, context.DeadlineExceeded)
	lockedError(t, "Lock", err, "holder", held.Token())
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("gave up after %v, want the whole 300 ms waited out", took)
	}
	awaitQueue(t, etcd, "orders", 2)
	unlock(t, held)
	unlock(t, granted(t, between))
}

// However often the lock changes hands, a wait lasts as long as it was allowed to.
func TestTimeOutIsWaitedOutUnderChurn(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	churn, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	other := member(t, cluster, "churn")
	go func() { // waiters ahead and behind come and go
		defer close(ended)
		for churn.Err() == nil {
			ctx, cancel := context.WithTimeout(churn, 20*time.Millisecond)
			_, _ = other.Lock(ctx, "orders")
			cancel()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	_, err := member(t, cluster, "waiter").Lock(ctx, "orders")
	took := time.Since(start)
	stop()
	<-ended
	mustBe(t, "Lock", err, context.DeadlineExceeded)
	lockedError(t, "Lock", err, "holder", held.Token())
	if took < time.Second {
		t.Errorf("gave up after %v, want 1 s waited out", took)
	}
	unlock(t, held)
	awaitQueue(t, etcd, "orders", 0)
}

// A waiter whose lease dies in the queue must not be told that it holds (etcd
// issue 11456), however close the two events are.
func TestWaiterWithoutALeaseNeverHolds(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	holder, waiter := member(t, cluster, "holder"), member(t, cluster, "waiter")
	for round := range 20 {
		held := hold(t, holder, "orders")
		s := session(t, waiter, 5*time.Second)
		waiting := waitFor(t, etcd, s, "orders", 2)
		revoke(t, etcd, s)
		if round%2 == 0 {
			unlock(t, held)
		}
		got := receive(t, waiting, "a waiter whose lease was revoked")
		if got.err == nil {
			t.Fatalf("round %d: the waiter got the lock, want ErrLost", round)
		}
		mustBe(t, "Lock of the waiter", got.err, client.ErrLost)
		receive(t, s.Done(), "Done of a session whose lease was revoked")
		if round%2 == 1 {
			unlock(t, held)
		}
	}
}

// The same when only the claim was deleted, by hand: the session lives on.
func TestWaiterWithoutAClaimIsLost(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	s := session(t, member(t, cluster, "waiter"), 5*time.Second)
	waiting := waitFor(t, etcd, s, "orders", 2)
	claim := queueOf(t, etcd, "orders")[1]
	if _, err := etcd.Delete(t.Context(), string(claim.Key)); err != nil {
		t.Fatal(err)
	}
	got := receive(t, waiting, "a waiter whose claim was deleted")
	mustBe(t, "Lock of the waiter", got.err, client.ErrLost)
	unlock(t, held)
	if err := s.Err(); err != nil {
		t.Errorf("the session: got %v, want it alive", err)
	}
	unlock(t, hold(t, s, "orders"))
}

// Even when it goes together with the holder's.
func TestWaiterDeletedWithTheHolderIsLost(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	waiting := waitFor(t, etcd, member(t, cluster, "waiter"), "orders", 2)
	if _, err := etcd.Delete(t.Context(), queuePrefix("orders"), clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	got := receive(t, waiting, "a waiter whose claim was deleted")
	mustBe(t, "Lock of the waiter", got.err, client.ErrLost)
	mustBe(t, "Unlock of the holder", held.Unlock(t.Context()), client.ErrLost)
}

// When the reply that grants the lock comes after the session's end, there is no
// lock: it would be dead on arrival.
func TestGrantAfterTheDeadlineIsLost(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	var f faults
	s := session(t, connect(t, client.Config{Etcd: f.client(t, cluster), DialTimeout: time.Minute}), time.Second)
	f.set(1, claimPut("orders"), func(send func() error, _ context.Context) error {
		err := send()
		revoke(t, etcd, s)
		<-s.Done()
		return err
	})
	l, err := s.Lock(t.Context(), "orders")
	if err == nil {
		t.Fatalf("got a lock with Err %v, want none", l.Err())
	}
	mustBe(t, "Lock", err, client.ErrLost)
}

func TestWaitSurvivesCompaction(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	waiting := waitFor(t, etcd, member(t, cluster, "waiter"), "orders", 2)
	for range 1000 {
		if _, err := etcd.Put(t.Context(), "busy", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := etcd.Compact(t.Context(), revision(t, etcd), clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	unlock(t, held)
	if got := receiveWithin(t, 10*time.Second, waiting, "a waiter after compaction"); got.err != nil {
		t.Errorf("got %v, want the lock", got.err)
	}
}

// ahead runs a function once before the next watch is asked for.
type ahead struct{ f atomic.Pointer[func()] }

func (a *ahead) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, cc, method, opts...)
	return aheadStream{stream, a}, err
}

type aheadStream struct {
	grpc.ClientStream
	of *ahead
}

func (s aheadStream) SendMsg(m any) error {
	if w, ok := m.(*pb.WatchRequest); ok && w.GetCreateRequest() != nil {
		if f := s.of.f.Swap(nil); f != nil {
			(*f)()
		}
	}
	return s.ClientStream.SendMsg(m)
}

// The lock becomes free after a waiter has seen it held, and before its watch is
// there: no event tells of that, but the look that follows does.
func TestLockThatIsFreedBeforeTheWatch(t *testing.T) {
	cluster := oneMember(t)
	var before ahead
	etcd, err := clientv3.New(clientv3.Config{Endpoints: cluster.Endpoints(), Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainStreamInterceptor(before.intercept)}})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	holder, waiter := member(t, cluster, "holder"), connect(t, client.Config{Etcd: etcd})
	var took []time.Duration
	for i := range 15 {
		name := fmt.Sprint("orders/", i) // of which no watch is kept
		held := hold(t, holder, name)
		freed := make(chan time.Time, 1)
		free := func() {
			unlock(t, held)
			freed <- time.Now()
		}
		before.f.Store(&free)
		next := hold(t, waiter, name)
		took = append(took, time.Since(receive(t, freed, "the unlock")))
		unlock(t, next)
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 100*time.Millisecond {
		t.Errorf("it took %v in the median until the waiter had the lock, want milliseconds; all: %v", median, took)
	}
}
