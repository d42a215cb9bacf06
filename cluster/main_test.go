package cluster_test

import (
	"context"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// single returns the configuration of a single node.
func single(t *testing.T) cluster.Config {
	t.Helper()
	return clustertest.Configs(t, clustertest.Config{Members: 1})[0]
}

// start runs a member until the test ends.
func start(t *testing.T, cfg cluster.Config) *cluster.Member {
	t.Helper()
	m, err := cluster.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() { shut(t, m) })
	return m
}

func shut(t *testing.T, m *cluster.Member) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func dial(t *testing.T, m *cluster.Member) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: m.ClientAddrs(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

func put(t *testing.T, etcd *clientv3.Client, key, value string) {
	t.Helper()
	if _, err := etcd.Put(t.Context(), key, value); err != nil {
		t.Fatalf("put %s=%s: %v", key, value, err)
	}
}

// refused starts a member that must not start, and returns the error.
func refused(t *testing.T, ctx context.Context, cfg cluster.Config) error {
	t.Helper()
	m, err := cluster.Start(ctx, cfg)
	if err == nil {
		shut(t, m)
		t.Fatal("start: got no error, want one")
	}
	return err
}
