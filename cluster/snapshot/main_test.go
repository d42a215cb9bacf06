package snapshot_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func makeFolder(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// apply makes a staged folder the data of the member that cfg describes, as its
// first start does.
func apply(t *testing.T, cfg cluster.Config) {
	t.Helper()
	peers := map[string][]string{}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(cfg.InitialCluster)) {
		peers[name] = []string{"http://" + cfg.InitialCluster[name][0]}
		all = append(all, name+"="+peers[name][0])
	}
	identity, err := json.Marshal(map[string]any{"name": cfg.Name, "peers": peers})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.DataDir, "member.json"), identity, 0o600); err != nil {
		t.Fatal(err)
	}
	err = snapshot.Apply(cfg.DataDir, snapshot.Membership{
		Name:           cfg.Name,
		ClusterToken:   cfg.ClusterToken,
		InitialCluster: strings.Join(all, ","),
		PeerURLs:       peers[cfg.Name],
	})
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
}

// startAll starts all members at the same time, until the test ends, and returns
// where clients reach them.
func startAll(t *testing.T, configs ...cluster.Config) []string {
	t.Helper()
	members := make([]*cluster.Member, len(configs))
	errs := make([]error, len(configs))
	var wg sync.WaitGroup
	for i, cfg := range configs {
		wg.Go(func() { members[i], errs[i] = cluster.Start(t.Context(), cfg) })
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, m := range members {
			wg.Go(func() {
				if m != nil {
					_ = m.Kill()
				}
			})
		}
		wg.Wait()
	})
	var endpoints []string
	for i, cfg := range configs {
		if errs[i] != nil {
			t.Fatalf("start member %d: %v", i, errs[i])
		}
		endpoints = append(endpoints, cfg.ListenClient[0])
	}
	return endpoints
}

func dial(t *testing.T, endpoints ...string) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

func put(t *testing.T, etcd *clientv3.Client, key, value string, opts ...clientv3.OpOption) int64 {
	t.Helper()
	resp, err := etcd.Put(t.Context(), key, value, opts...)
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return resp.Header.Revision
}

// folderOf lists what is in a folder, by name.
func folderOf(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return fmt.Sprint(names)
}
