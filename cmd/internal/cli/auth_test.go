package cli

import (
	"context"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// withUser makes a user root, and turns authentication on.
func withUser(t *testing.T, c *clustertest.Cluster, password string) {
	t.Helper()
	ctx, etcd := testContext(t), c.Client(t)
	for _, step := range []func() error{
		func() error { _, err := etcd.UserAdd(ctx, "root", password); return err },
		func() error { _, err := etcd.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := etcd.AuthEnable(ctx); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUser(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	withUser(t, cluster, "secret")
	c := at(cluster.Endpoints()...)
	c.run("locks").want(t, codeFailure, "user name is empty")
	root := c.with("FENCELOCK_CLIENT_PASSWORD=secret")
	root.run("locks", "--user", "root").want(t, codeOK)
	root.run("status", "--user", "root").want(t, codeOK)
	root.run("locks", "--user", "nobody").want(t, codeFailure, "authentication failed", cluster.Endpoint(0))
	c.with("FENCELOCK_CLIENT_PASSWORD=wrong").run("locks", "--user", "root").want(t, codeFailure, "authentication failed")
}

// A login that nobody answers takes no longer than anything else.
func TestUserNoCluster(t *testing.T) {
	endpoint := deadEndpoint(t)
	c := at(endpoint).with("FENCELOCK_CLIENT_USER=root", "FENCELOCK_CLIENT_PASSWORD=secret", "FENCELOCK_CLIENT_DIAL_TIMEOUT=300ms")
	c.run("locks").want(t, codeFailure, endpoint)
	start := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.with("FENCELOCK_CLIENT_DIAL_TIMEOUT=5s").runContext(ctx, "locks").want(t, codeFailure, "interrupted")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("interrupted after %v", took)
	}
}
