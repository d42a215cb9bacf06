package cluster_test

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestSingleNode(t *testing.T) {
	cfg := single(t)
	m := start(t, cfg)
	if got, want := m.Name(), "m0"; got != want {
		t.Errorf("name: got %q, want %q", got, want)
	}
	if got, want := m.ClientAddrs()[0], "http://"+cfg.ListenClient[0]; got != want {
		t.Errorf("client address: got %s, want %s", got, want)
	}
	if got, want := m.PeerAddrs()[0], "http://"+cfg.ListenPeer[0]; got != want {
		t.Errorf("peer address: got %s, want %s", got, want)
	}
	if !m.IsLeader() || m.ID() == 0 || m.Leader() != m.ID() {
		t.Errorf("leader %x of %x: a single node leads itself", m.Leader(), m.ID())
	}
	if info, err := os.Stat(m.DataDir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data folder: got %v, %v, want mode 0700", info.Mode(), err)
	}
	before := m.Revision()
	put(t, dial(t, m), "k", "v")
	if got := m.Revision(); got != before+1 {
		t.Errorf("revision after a put: got %d, want %d", got, before+1)
	}
}

// With an election time-out of 1 s, leases last 2 s at least: 1.5 times, rounded up.
func TestShortestLease(t *testing.T) {
	etcd := dial(t, start(t, single(t)))
	lease, err := etcd.Grant(t.Context(), 1)
	if err != nil {
		t.Fatalf("grant: %v", err)
	}
	if lease.TTL != 2 {
		t.Errorf("TTL: asked for 1 s and got %d s, want 2 s", lease.TTL)
	}
}

func TestRestart(t *testing.T) {
	cfg := single(t)
	m := start(t, cfg)
	put(t, dial(t, m), "k", "v")
	id, revision := m.ID(), m.Revision()
	shut(t, m)
	m = start(t, cfg)
	if m.ID() != id || m.Revision() != revision {
		t.Errorf("after the restart: got member %x at %d, want %x at %d", m.ID(), m.Revision(), id, revision)
	}
	r, err := dial(t, m).Get(t.Context(), "k")
	if err != nil || len(r.Kvs) != 1 || string(r.Kvs[0].Value) != "v" {
		t.Errorf("get: got %v, %v, want v", r, err)
	}
}

func TestCloseTwice(t *testing.T) {
	m := start(t, single(t))
	shut(t, m)
	shut(t, m)
	if err := m.Kill(); err != nil {
		t.Errorf("kill after close: %v", err)
	}
	if err, open := <-m.Err(); open {
		t.Errorf("Err after a close: got %v, want a closed channel", err)
	}
}

// Reads go on while the leader closes; an election would interrupt them for 3 s
// at least. (Not so writes: Raft drops one that is passed on to the leader while it
// hands over, and etcd waits for it until the request times out.)
func TestCloseHandsOver(t *testing.T) {
	t.Parallel()
	const election = 3 * time.Second
	c := clustertest.StartConfig(t, clustertest.Config{Election: election})
	leader := c.Leader(t.Context())
	etcd := c.MemberClient(t, (leader+1)%3)
	put(t, etcd, "k", "v")
	stop, longest := make(chan struct{}), make(chan time.Duration)
	go func() { longest <- slowestRead(t, etcd, stop) }()
	c.Stop(leader)
	close(stop)
	if got := <-longest; got >= election {
		t.Errorf("longest read during Close: %v, want less than %v", got, election)
	}
	if next := c.Leader(t.Context()); next == leader {
		t.Errorf("member %d leads after it was closed", leader)
	}
}

// slowestRead reads until stop is closed, and once more after that.
func slowestRead(t *testing.T, etcd *clientv3.Client, stop <-chan struct{}) (longest time.Duration) {
	for {
		stopped := closed(stop)
		began := time.Now()
		if _, err := etcd.Get(t.Context(), "k"); err != nil {
			t.Errorf("get: %v", err)
			return longest
		}
		longest = max(longest, time.Since(began))
		if stopped {
			return longest
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closeLimit is well under the 7 s of etcd's request time-out, which bounds its
// own attempts to hand over and to finish requests.
const closeLimit = 4 * time.Second

// Watches and renewals would last for ever. They end, and go on elsewhere.
func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	etcd := c.Client(t)
	leader := c.Leader(t.Context())
	watch := c.MemberClient(t, leader).Watch(t.Context(), "k", clientv3.WithCreatedNotify())
	<-watch
	moving := etcd.Watch(clientv3.WithRequireLeader(t.Context()), "k", clientv3.WithCreatedNotify())
	<-moving
	lease, err := etcd.Grant(t.Context(), 30)
	if err != nil {
		t.Fatalf("grant: %v", err)
	}
	if _, err := etcd.KeepAlive(t.Context(), lease.ID); err != nil {
		t.Fatalf("keep alive: %v", err)
	}
	began := time.Now()
	c.Stop(leader)
	if got := time.Since(began); got > closeLimit {
		t.Errorf("close took %v, want less than %v", got, closeLimit)
	}
	put(t, etcd, "k", "v")
	if r := <-moving; r.Err() != nil || len(r.Events) != 1 {
		t.Errorf("watch after a member has closed: got %v, %v, want one event", r.Events, r.Err())
	}
}

// A leader whose followers do not answer cannot hand over, and its requests
// do not end.
func TestCloseCutOff(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	leader := c.Leader(t.Context())
	etcd := c.MemberClient(t, leader)
	put(t, etcd, "k", "v")
	c.Cut(leader)
	ctx, cancel := context.WithTimeout(t.Context(), closeLimit)
	defer cancel()
	pending := make(chan error, 1)
	go func() {
		_, err := etcd.Put(ctx, "k", "w")
		pending <- err
	}()
	began := time.Now()
	c.Stop(leader)
	if got := time.Since(began); got > closeLimit {
		t.Errorf("close took %v, want less than %v", got, closeLimit)
	}
	if err := <-pending; err == nil {
		t.Error("put through a leader that is cut off: got no error, want one")
	}
}

// A health check may connect and say nothing; etcd would wait for its first byte.
func TestCloseWithSilentConnection(t *testing.T) {
	t.Parallel()
	cfg := single(t)
	m := start(t, cfg)
	conn, err := net.Dial("tcp", cfg.ListenClient[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	put(t, dial(t, m), "k", "v") // accepted after conn, so that was accepted too
	began := time.Now()
	shut(t, m)
	if got := time.Since(began); got > closeLimit {
		t.Errorf("close took %v, want less than %v", got, closeLimit)
	}
	start(t, cfg)
}
