package kv

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// A write that went out under a newer mod revision than a running barrier's, and
// is lost as well, makes that barrier cover it too.
func TestBarrierCoversWritesUnderANewerRevision(t *testing.T) {
	cl := clustertest.Start(t, 1)
	plain := cl.Client(t)
	var mu sync.Mutex
	lost := false
	hold := 0
	var late []func() *pb.TxnResponse
	etcd, err := clientv3.New(clientv3.Config{Endpoints: cl.Endpoints(), Logger: zap.NewNop(), DialOptions: []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			mu.Lock()
			l, h := lost, hold > 0
			if h {
				hold--
				late = append(late, func() *pb.TxnResponse {
					r := &pb.TxnResponse{}
					if err := invoke(context.Background(), method, req, r, cc, opts...); err != nil {
						t.Fatal(err)
					}
					return r
				})
			}
			mu.Unlock()
			if l || h {
				return status.Error(codes.Unavailable, "lost")
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		})}})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	space, _ := keys.NewSpace("")
	key := space.Claim("g", 1, 0)
	put, err := plain.Put(t.Context(), key, "")
	if err != nil {
		t.Fatal(err)
	}
	seq := fencing.Sequencer{Lock: "g", Token: fencing.Token(put.Header.Revision)}
	handle, err := Live(etcd, Grant{Sequencer: seq, Claim: key, Held: func() error { return nil }}, Config{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := handle.Put(ctx, "k", []byte("0")); err != nil { // m1
		t.Fatal(err)
	}
	m1 := handle.fence
	// X, sent under m1, gets no answer: a barrier under m1 begins, and gets none either.
	mu.Lock()
	lost = true
	mu.Unlock()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	handle.raiseBarrier(short, m1)
	cancel()
	// Z, sent under m1 before the cut, is answered: another handle of this token moved the fence to m2.
	moved, err := plain.Put(ctx, space.Fence("g"), string(m1.value))
	if err != nil {
		t.Fatal(err)
	}
	handle.learn(view{value: m1.value, revision: moved.Header.Revision})
	// Y sends its write under m2, which is held up on its way.
	handle.mu.Lock()
	m2 := handle.fence
	handle.mu.Unlock()
	mu.Lock()
	hold, lost = 1, true
	mu.Unlock()
	req := request{doing: "put", write: true, ops: []clientv3.Op{handle.records.put("k", []byte("lost"))}}
	_, err = handle.commit(ctx, m2, req)
	short, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
	err = handle.unanswered(short, m2, req, err)
	cancel()
	if !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("Y: %v", err)
	}
	mu.Lock()
	lost = false
	mu.Unlock()
	if _, err := handle.Put(ctx, "k", []byte("acknowledged")); err != nil {
		t.Fatal(err)
	}
	if late[len(late)-1]().Succeeded {
		got, _ := plain.Get(ctx, space.Record("g", "k"))
		t.Errorf("the lost write landed after a later, acknowledged one of the same handle: k = %s", got.Kvs[0].Value)
	}
}
