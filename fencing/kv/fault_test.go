package kv_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// wire lies between an etcd client and its members. It can hold requests back and
// let them land later, after their caller has given up: what a stalled link or a
// slow follower does, but at a moment that the test chooses.
type wire struct {
	mu       sync.Mutex
	holding  int                                              // how many of the next transactions to hold back
	loseAll  bool                                             // answer nothing at all
	whenHeld func()                                           // called once, when a request is held back
	held     []func(context.Context) (*pb.TxnResponse, error) // held back, oldest first
	seen     int                                              // transactions that went through
	lost     int                                              // transactions that would have put nothing, and were lost
	meeting  func()                                           // called once, before transaction number meetAt is sent
	meetAt   int
}

// connect makes an etcd client whose requests go through the wire.
func (w *wire) connect(t *testing.T, endpoints []string) *clientv3.Client {
	t.Helper()
	return w.connectAs(t, endpoints, "")
}

// connectAs logs in as a user whose password is the name.
func (w *wire) connectAs(t *testing.T, endpoints []string, user string) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		Username:    user,
		Password:    user,
		Logger:      zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(w.intercept)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { etcd.Close() })
	return etcd
}

func (w *wire) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	txn, isTxn := req.(*pb.TxnRequest)
	w.mu.Lock()
	hold := isTxn && w.holding > 0
	lost := w.loseAll
	if hold {
		w.holding--
		w.held = append(w.held, func(ctx context.Context) (*pb.TxnResponse, error) {
			late := &pb.TxnResponse{}
			return late, invoke(ctx, method, txn, late, conn, opts...)
		})
	} else if isTxn && !lost {
		w.seen++
	} else if isTxn && !puts(txn) {
		w.lost++
	}
	var notify func()
	if isTxn && w.seen == w.meetAt {
		notify, w.meeting = w.meeting, nil
	}
	if hold {
		notify, w.whenHeld = w.whenHeld, nil
	}
	w.mu.Unlock()
	if notify != nil {
		notify()
	}
	if hold || lost {
		return status.Error(codes.Unavailable, "the test lost this request")
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

func puts(txn *pb.TxnRequest) bool {
	return slices.ContainsFunc(txn.Success, func(op *pb.RequestOp) bool { return op.GetRequestPut() != nil })
}

// lostReads is how many transactions without a put were sent, and lost.
func (w *wire) lostReads() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// hold makes the next n transactions time out without being sent.
func (w *wire) hold(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding = n
}

// onHeld calls f when the next request is held back, and closes the channel then.
func (w *wire) onHeld(f func()) <-chan struct{} {
	called := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whenHeld = func() {
		f()
		close(called)
	}
	return called
}

// meet calls f before the n-th transaction from now on is sent. The function that it
// returns reports whether that was so, and forgets f if it was not.
func (w *wire) meet(n int, f func()) (met func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meetAt, w.meeting = w.seen+n, f
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		met := w.meeting == nil
		w.meeting = nil
		return met
	}
}

// lose makes every request time out, until it is told otherwise.
func (w *wire) lose(all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loseAll = all
}

// land sends the oldest request that was held back, and reports whether its
// compares held.
func (w *wire) land(t *testing.T) (applied bool) {
	t.Helper()
	w.mu.Lock()
	if len(w.held) == 0 {
		w.mu.Unlock()
		t.Fatal("no request was held back")
	}
	next := w.held[0]
	w.held = w.held[1:]
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	resp, err := next(ctx)
	if err != nil {
		t.Fatalf("the late request: %v", err)
	}
	return resp.Succeeded
}

// transactions is how many have gone through so far.
func (w *wire) transactions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}
