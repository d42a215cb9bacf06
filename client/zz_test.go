package client_test

import (
	"testing"
	"time"

	"context"
	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/test/netfault"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

func TestZZ(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	held := hold(t, connect(t, client.Config{Endpoints: cluster.Endpoints()[1:], TTL: time.Minute}), "orders")
	proxy := netfault.New(t, cluster.Endpoint(0))
	confirmed, waiting := waitOnZ(t, "orders", append([]string{proxy.Addr()}, cluster.Endpoints()[1:]...))
	st := time.Now()
	t.Log("conns", proxy.Connections())
	select {
	case <-confirmed:
		t.Log("re-confirmed", time.Since(st))
	case <-time.After(time.Second):
	}
	t.Log("conns", proxy.Connections())
	proxy.Stall()
	unlock(t, held)
	st = time.Now()
	for {
		select {
		case <-confirmed:
			t.Log("re-confirmed", time.Since(st))
			continue
		case <-waiting:
			t.Log("got", time.Since(st))
		}
		break
	}
}
func waitOnZ(t *testing.T, name string, endpoints []string) (watchCounter, <-chan result) {
	t.Helper()
	confirmed := make(watchCounter, 1000)
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints[:1],
		Logger:      zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainStreamInterceptor(confirmed.intercept)},
	})
	if err != nil {
		t.Fatalf("new etcd client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	waiting := goLock(context.Background(), connect(t, client.Config{Etcd: etcd, Owner: "waiter", TTL: time.Minute}), name)
	for range 2 { // of the claim ahead and of its own
		receive(t, confirmed, "confirmation of a watch")
	}
	etcd.SetEndpoints(endpoints...)
	return confirmed, waiting
}
