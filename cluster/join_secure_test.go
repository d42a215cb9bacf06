package cluster_test

import (
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// In a cluster with users, to join is for those with the role root; the refusal of
// others says so, and leaves nothing behind.
func TestJoinAsUser(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	enableUsers(t, c.Client(t))
	cfg := guest(t, "new")
	way := via(c)
	for _, user := range []string{"", "service"} {
		way.Username, way.Password = user, "secret"
		_, err := cluster.Join(t.Context(), cfg, way)
		if err == nil || !strings.Contains(err.Error(), "the role root") || !strings.Contains(err.Error(), "--user") {
			t.Fatalf("join as %q: got %v, want to read which rights it takes", user, err)
		}
	}
	way.Username, way.Password = "root", "wrong"
	if _, err := cluster.Join(t.Context(), cfg, way); err == nil || !strings.Contains(err.Error(), "authentication failed") {
		t.Fatalf("join with a wrong password: got %v", err)
	}
	way.Password = "secret"
	m, err := cluster.Join(t.Context(), cfg, way)
	if err != nil {
		t.Fatalf("join as root: %v", err)
	}
	defer shut(t, m)
	root, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), Username: "root", Password: "secret", Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	list, err := root.MemberList(t.Context())
	if err != nil || len(list.Members) != 2 {
		t.Errorf("members %v, %v; want 2", list, err)
	}
}

func enableUsers(t *testing.T, etcd *clientv3.Client) {
	t.Helper()
	for _, user := range []string{"root", "service"} {
		if _, err := etcd.UserAdd(t.Context(), user, "secret"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := etcd.UserGrantRole(t.Context(), "root", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// With TLS on both sides, a member joins with the certificates of both: as a client,
// and as a member. Who has none is not let in.
func TestJoinTLS(t *testing.T) {
	t.Parallel()
	pair, files := certificate(t)
	c := clustertest.StartConfig(t, clustertest.Config{
		Members: 1,
		Edit:    func(_ int, cfg *cluster.Config) { cfg.ClientTLS, cfg.PeerTLS = files, files },
	})
	cfg := guest(t, "new")
	cfg.ClientTLS, cfg.PeerTLS, cfg.AdvertisePeer = files, files, nil
	way := via(c)
	way.TLS = clientTLS(t, pair, false)
	bare := cfg
	bare.StartTimeout = 2 * time.Second
	if m, err := cluster.Join(t.Context(), bare, way); err == nil {
		shut(t, m)
		t.Fatal("join without a client certificate: got no error")
	}
	way.TLS = clientTLS(t, pair, true)
	m, err := cluster.Join(t.Context(), cfg, way)
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	shut(t, m)
}
