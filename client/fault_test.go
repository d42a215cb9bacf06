package client_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// faults sits inside a client's connection and mistreats the transactions that it
// is armed for. It makes certain what a bad network does by chance.
type faults struct {
	mu    sync.Mutex
	traps []*trap
}

// trap waits for transactions of one kind.
type trap struct {
	kind  func(*pb.TxnRequest) bool
	treat func(send func() error, ctx context.Context) error
	left  int                 // how many transactions it takes; < 0: all
	Taken chan *pb.TxnRequest // what it has taken
	Done  chan struct{}       // one for each whose sender has got its answer
}

// client makes an etcd client whose transactions pass through f.
func (f *faults) client(t testing.TB, cluster *clustertest.Cluster) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints:   cluster.Endpoints(),
		Logger:      zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(f.intercept)},
	})
	if err != nil {
		t.Fatalf("new etcd client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

func (f *faults) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	send := func() error { return invoke(ctx, method, req, reply, cc, opts...) }
	txn, ok := req.(*pb.TxnRequest)
	if !ok {
		return send()
	}
	trap := f.matching(txn)
	if trap == nil {
		return send()
	}
	trap.Taken <- proto.Clone(txn).(*pb.TxnRequest)
	defer func() { trap.Done <- struct{}{} }()
	return trap.treat(send, ctx)
}

func (f *faults) matching(txn *pb.TxnRequest) *trap {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, trap := range f.traps {
		if trap.left != 0 && trap.kind(txn) {
			trap.left--
			return trap
		}
	}
	return nil
}

// set arms a trap for n transactions; n < 0: for all until disarm.
func (f *faults) set(n int, kind func(*pb.TxnRequest) bool, treat func(send func() error, ctx context.Context) error) *trap {
	f.mu.Lock()
	defer f.mu.Unlock()
	trap := &trap{kind: kind, treat: treat, left: n, Taken: make(chan *pb.TxnRequest, 1000), Done: make(chan struct{}, 1000)}
	f.traps = append(f.traps, trap)
	return trap
}

func (f *faults) disarm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.traps = nil
}

// swallow does not send the request, and its sender waits until it gives up: the
// request is still on its way somewhere, and lands when the test sends it.
func swallow(_ func() error, ctx context.Context) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}

// loseReply sends the request, and then the connection is gone.
func loseReply(send func() error, _ context.Context) error {
	_ = send()
	return status.Error(codes.Unavailable, "error reading from server: EOF")
}

// pass only takes note of the request.
func pass(send func() error, _ context.Context) error { return send() }

// claimPut matches transactions that put a claim on a lock.
func claimPut(lock string) func(*pb.TxnRequest) bool {
	return func(txn *pb.TxnRequest) bool { return putKey(txn, lock) != "" }
}

// putKey is the key of the claim that a transaction puts, or "".
func putKey(txn *pb.TxnRequest, lock string) string {
	for _, op := range txn.Success {
		if put := op.GetRequestPut(); put != nil && bytes.HasPrefix(put.Key, []byte(queuePrefix(lock))) {
			return string(put.Key)
		}
	}
	return ""
}

// claimDelete matches transactions that delete a claim on a lock.
func claimDelete(lock string) func(*pb.TxnRequest) bool {
	return func(txn *pb.TxnRequest) bool {
		for _, op := range txn.Success {
			if del := op.GetRequestDeleteRange(); del != nil && bytes.HasPrefix(del.Key, []byte(queuePrefix(lock))) {
				return true
			}
		}
		return false
	}
}

// claimRead matches transactions that do nothing but read claims of a lock by their
// keys: looks of the sweeper.
func claimRead(lock string) func(*pb.TxnRequest) bool {
	return func(txn *pb.TxnRequest) bool {
		for _, op := range txn.Success {
			read := op.GetRequestRange()
			if read == nil || len(read.RangeEnd) > 0 || !bytes.HasPrefix(read.Key, []byte(queuePrefix(lock))) {
				return false
			}
		}
		return len(txn.Compare) == 0 && len(txn.Success) > 0
	}
}

// land sends a request that was swallowed, or repeats one that passed, and
// returns whether its compares held.
func land(t testing.TB, etcd *clientv3.Client, txn *pb.TxnRequest) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	resp, err := pb.NewKVClient(etcd.ActiveConnection()).Txn(ctx, txn)
	if err != nil {
		t.Fatalf("land a late request: %v", err)
	}
	return resp.Succeeded
}

// loseUnsent does not send the request, and the connection is gone at once.
func loseUnsent(func() error, context.Context) error {
	return status.Error(codes.Unavailable, "error reading from server: EOF")
}
