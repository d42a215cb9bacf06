package cluster_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// atOnce is for refusals that wait for nothing.
const atOnce = 2 * time.Second

func TestPortInUse(t *testing.T) {
	for _, which := range []string{"client", "peer"} {
		t.Run(which, func(t *testing.T) {
			cfg := single(t)
			address := cfg.ListenClient[0]
			if which == "peer" {
				address = cfg.ListenPeer[0]
			}
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			began := time.Now()
			err = refused(t, t.Context(), cfg)
			if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), address) {
				t.Errorf("got %v, want EADDRINUSE and %s", err, address)
			}
			if got := time.Since(began); got > atOnce {
				t.Errorf("refused after %v, want at once", got)
			}
			_ = l.Close()
			start(t, cfg) // nothing was left behind
		})
	}
}

// The first of three, alone: it says whom it waits for.
func TestPeersAbsent(t *testing.T) {
	t.Parallel()
	cfg := clustertest.Configs(t, clustertest.Config{})[0]
	cfg.StartTimeout = time.Second
	for range 2 { // a restart is no different, and finds ports and folder free
		began := time.Now()
		err := refused(t, t.Context(), cfg)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), cfg.InitialCluster["m2"][0]+" (dial") {
			t.Errorf("got %v, want DeadlineExceeded and %q", err, "not answered")
		}
		if got, want := time.Since(began), cfg.StartTimeout+closeLimit; got > want {
			t.Errorf("gave up after %v, want less than %v", got, want)
		}
	}
}

// A member that waits for its peers holds its folder.
func TestInUseWhileItWaits(t *testing.T) {
	t.Parallel()
	cfg := clustertest.Configs(t, clustertest.Config{Members: 2})[0]
	core, _ := observer.New(zap.InfoLevel)
	waits := make(chan struct{})
	cfg.Logger = zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
		if strings.HasPrefix(e.Message, "waiting for the peers") {
			close(waits)
		}
		return nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := cluster.Start(ctx, cfg)
		first <- err
	}()
	<-waits
	second := cfg
	second.Logger = nil
	if err := refused(t, t.Context(), second); !errors.Is(err, cluster.ErrInUse) {
		t.Errorf("second start: got %v, want ErrInUse", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("first start: got %v, want Canceled", err)
	}
}

// Each member of two says what two are not, once it knows that they are two.
func TestTwoMembersWarn(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.WarnLevel)
	edit := func(_ int, cfg *cluster.Config) { cfg.Logger = zap.New(core) }
	clustertest.StartConfig(t, clustertest.Config{Members: 2, Edit: edit})
	if got := logs.FilterMessageSnippet("two members").Len(); got != 2 {
		t.Errorf("got %d warnings of two members, want one of each", got)
	}
}

func TestStartCancelled(t *testing.T) {
	cfg := clustertest.Configs(t, clustertest.Config{})[0]
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := refused(t, ctx, cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	if got := time.Since(began); got > closeLimit {
		t.Errorf("gave up after %v, want less than %v", got, closeLimit)
	}
}

func TestInvalidConfig(t *testing.T) {
	err := refused(t, t.Context(), cluster.Config{DataDir: t.TempDir(), Name: "a b", Quota: -1})
	for _, want := range []string{"member name", "quota"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want all that is wrong, also %q", err, want)
		}
	}
}

// A member removed while it was away learns of it from the others.
func TestRemoved(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	gone := (c.Leader(t.Context()) + 1) % 3
	cfg, id := c.Config(gone), c.Members[gone].ID()
	c.Stop(gone)
	if _, err := c.Client(t).MemberRemove(t.Context(), id); err != nil {
		t.Fatalf("remove: %v", err)
	}
	if err := refused(t, t.Context(), cfg); !errors.Is(err, cluster.ErrRemoved) {
		t.Errorf("start of a removed member: got %v, want ErrRemoved", err)
	}
}

func TestRemovedWhileRunning(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	leader := c.Leader(t.Context())
	etcd := c.MemberClient(t, leader) // not the one that will stop
	m := c.Members[(leader+1)%3]
	// etcd refuses until all members have been connected for 5 s.
	for tick := time.NewTicker(100 * time.Millisecond); ; <-tick.C {
		_, err := etcd.MemberRemove(t.Context(), m.ID())
		if err == nil {
			break
		}
		if !errors.Is(err, rpctypes.ErrUnhealthy) {
			t.Fatalf("remove: %v", err)
		}
	}
	if err := <-m.Err(); !errors.Is(err, cluster.ErrRemoved) {
		t.Errorf("Err: got %v, want ErrRemoved", err)
	}
	shut(t, m)
}

// One loud warning, and only beyond loopback.
func TestWarnsWithoutTLS(t *testing.T) {
	for listen, want := range map[string]int{"0.0.0.0": 1, "127.0.0.1": 0} {
		cfg := single(t)
		core, logs := observer.New(zap.WarnLevel)
		cfg.Logger = zap.New(core)
		cfg.AdvertiseClient = cfg.ListenClient
		_, port, _ := net.SplitHostPort(cfg.ListenClient[0])
		cfg.ListenClient = []string{net.JoinHostPort(listen, port)}
		shut(t, start(t, cfg))
		loud := logs.Filter(func(e observer.LoggedEntry) bool { return strings.HasPrefix(e.Message, "NO TLS") })
		if got := loud.Len(); got != want {
			t.Errorf("on %s: got %d warnings, want %d", listen, got, want)
		}
	}
}
