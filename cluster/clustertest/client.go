package clustertest

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster"
)

// Endpoints returns the client address, host:port, of every member, also of
// those that are stopped.
func (c *Cluster) Endpoints() []string {
	endpoints := make([]string, len(c.configs))
	for i := range c.configs {
		endpoints[i] = c.Endpoint(i)
	}
	return endpoints
}

// Endpoint returns the client address of member i.
func (c *Cluster) Endpoint(i int) string { return c.configs[i].ListenClient[0] }

// Config returns the configuration with which member i is started.
func (c *Cluster) Config(i int) cluster.Config { return c.configs[i] }

// Client returns a new client of all members, closed with the test.
func (c *Cluster) Client(t testing.TB) *clientv3.Client {
	t.Helper()
	return client(t, c.Endpoints())
}

// MemberClient returns a new client that asks member i only.
func (c *Cluster) MemberClient(t testing.TB, i int) *clientv3.Client {
	t.Helper()
	return client(t, []string{c.Endpoint(i)})
}

func client(t testing.TB, endpoints []string) *clientv3.Client {
	t.Helper()
	cli, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		DialTimeout: 5 * time.Second,
		Logger:      zap.NewNop(),
	})
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return cli
}
