package interop

import (
	"os"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/version"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// server is a single member, a process of its own. All kinds have an election
// time-out of 200 ms, so that they are ready soon and grant TTLs of 1 s.
type server struct {
	endpoint string
	process  *process
}

// onBoth runs a test against a member of ours, and against an etcd 3.5 server.
func onBoth(t *testing.T, test func(*testing.T, server)) {
	t.Run("fencelock", func(t *testing.T) { test(t, startOurs(t)) })
	t.Run("etcd 3.5", func(t *testing.T) { test(t, startEtcd(t, etcd35)) })
}

// onBothEtcds runs a test that needs users against etcd's own servers.
func onBothEtcds(t *testing.T, test func(*testing.T, server), args ...string) {
	t.Run("etcd 3.7", func(t *testing.T) { test(t, startEtcd(t, etcd37, args...)) })
	t.Run("etcd 3.5", func(t *testing.T) { test(t, startEtcd(t, etcd35, args...)) })
}

// startOurs starts this test's own program as a member, see runMember.
func startOurs(t *testing.T) server {
	t.Helper()
	self, err := os.Executable()
	must(t, "path of the test", err)
	return startServer(t, func(cfg cluster.Config) (*process, error) {
		return start(self, memberMode, cfg.DataDir, cfg.ListenClient[0], cfg.ListenPeer[0])
	})
}

// startEtcd starts a server of etcd's own. A login costs it less than it would
// otherwise, which is 60 ms of its time.
func startEtcd(t *testing.T, program func() (string, error), args ...string) server {
	t.Helper()
	path, err := program()
	must(t, "etcd", err)
	return startServer(t, func(cfg cluster.Config) (*process, error) {
		client, peer := "http://"+cfg.ListenClient[0], "http://"+cfg.ListenPeer[0]
		return start(path, append([]string{
			"--name=m0", "--data-dir=" + cfg.DataDir, "--unsafe-no-fsync", "--heartbeat-interval=20", "--election-timeout=200",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=m0=" + peer,
			"--bcrypt-cost=4",
		}, args...)...)
	})
}

// startAttempts is how often a start is tried on new ports when another process
// was faster to take one.
const startAttempts = 5

// startServer waits until the server says that it is ready. It is killed with the test.
func startServer(t *testing.T, begin func(cluster.Config) (*process, error)) server {
	t.Helper()
	for range startAttempts {
		cfg := clustertest.Configs(t, clustertest.Config{Members: 1})[0]
		p, err := begin(cfg)
		must(t, "start a server", err)
		p.endWith(t)
		if err = p.await(soon(t), func(text string) bool { return strings.Contains(text, ready) }); err == nil {
			return server{endpoint: cfg.ListenClient[0], process: p}
		}
		if text, _ := p.printed(); !strings.Contains(text, "address already in use") {
			t.Fatalf("start a server: %v", err)
		}
	}
	t.Fatalf("start a server: ports were taken %d times in a row", startAttempts)
	panic("unreachable")
}

// etcd returns a plain client of the server, closed with the test.
func (s server) etcd(t *testing.T) *clientv3.Client { return s.etcdAs(t, "") }

// etcdAs returns a plain client that logs in as a user, whose password is the same
// word; as nobody if it is empty.
func (s server) etcdAs(t *testing.T, user string) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints: []string{s.endpoint}, Username: user, Password: user,
		DialTimeout: limit, Logger: zap.NewNop(),
	})
	must(t, "new etcd client", err)
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

// client returns a client of ours that is given the endpoint and no more.
func (s server) client(t *testing.T) *client.Client {
	t.Helper()
	return connect(t, client.Config{Endpoints: []string{s.endpoint}})
}

// The tests are worth something only with the versions that they speak of.
func TestToolsHaveTheirVersions(t *testing.T) {
	old, now := startEtcd(t, etcd35), startEtcd(t, etcd37)
	for s, want := range map[server]string{old: "3.5.", now: version.Version} {
		status, err := s.etcd(t).Status(soon(t), s.endpoint)
		must(t, "status", err)
		if !strings.HasPrefix(status.Version, want) {
			t.Errorf("a server says that it is version %s, want %s", status.Version, want)
		}
	}
	p, err := startEtcdctl(now, "version")
	must(t, "start etcdctl", err)
	p.endWith(t)
	<-p.ended
	if text, _ := p.printed(); p.err != nil || !strings.Contains(text, "etcdctl version: "+version.Version+"\n") {
		t.Errorf("etcdctl version: %v, %q, want the version of the library, %s", p.err, text, version.Version)
	}
}
