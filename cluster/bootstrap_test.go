package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/bootstrap"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// outcome is how a start ended.
type outcome struct {
	member *cluster.Member
	err    error
}

// startAll starts members together; the zero Config is left out. Those that start
// run until the test ends.
func startAll(t *testing.T, configs ...cluster.Config) []outcome {
	t.Helper()
	outcomes := make([]outcome, len(configs))
	var wg sync.WaitGroup
	for i, cfg := range configs {
		if cfg.DataDir == "" {
			continue
		}
		wg.Go(func() {
			outcomes[i].member, outcomes[i].err = cluster.Start(t.Context(), cfg)
		})
	}
	wg.Wait()
	for _, o := range outcomes {
		if o.member != nil {
			t.Cleanup(func() { shut(t, o.member) })
		}
	}
	return outcomes
}

func allStarted(t *testing.T, configs ...cluster.Config) []*cluster.Member {
	t.Helper()
	var list []*cluster.Member
	for i, o := range startAll(t, configs...) {
		if o.err != nil {
			t.Fatalf("start %s: %v", configs[i].Name, o.err)
		}
		list = append(list, o.member)
	}
	return list
}

// grown returns the configurations of three members that ran and were stopped.
func grown(t *testing.T) []cluster.Config {
	t.Helper()
	configs := clustertest.Configs(t, clustertest.Config{})
	var wg sync.WaitGroup
	for _, m := range allStarted(t, configs...) {
		wg.Go(func() { _ = m.Kill() })
	}
	wg.Wait()
	return configs
}

func wipe(t *testing.T, configs ...cluster.Config) {
	t.Helper()
	for _, cfg := range configs {
		if err := os.RemoveAll(cfg.DataDir); err != nil {
			t.Fatal(err)
		}
	}
}

// wants checks an error's kind and words.
func wants(t *testing.T, what string, err, kind error, words ...string) {
	t.Helper()
	if kind != nil && !errors.Is(err, kind) {
		t.Errorf("%s: got %v, want %v", what, err, kind)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: got %v, want %q in it", what, err, word)
		}
	}
}

func TestFirstStartIsFast(t *testing.T) {
	configs := clustertest.Configs(t, clustertest.Config{Fsync: true})
	began := time.Now()
	allStarted(t, configs...)
	took := time.Since(began)
	t.Logf("three members together: %v", took)
	if took > 10*time.Second { // some 2 s on an idle machine
		t.Errorf("first start took %v", took)
	}
}

// Whoever is wiped has no say in what the cluster is, first or last.
func TestWipedMemberStartsFirst(t *testing.T) {
	t.Parallel()
	configs := grown(t)
	wipe(t, configs[0])
	for i, o := range startAll(t, configs...) {
		if i == 0 {
			wants(t, "wiped, started with the others", o.err, cluster.ErrReplace, "member replace")
		} else if o.err != nil {
			t.Fatalf("member %d, with its data: %v", i, o.err)
		}
	}
	began := time.Now()
	err := refused(t, t.Context(), configs[0])
	wants(t, "wiped, started after the others", err, cluster.ErrReplace, "runs etcd cluster", "member replace")
	if took := time.Since(began); took > 2*atOnce {
		t.Errorf("refused after %v", took)
	}
}

func TestTwoWiped(t *testing.T) {
	t.Parallel()
	configs := grown(t)
	wipe(t, configs[:2]...)
	brief := slices.Clone(configs)
	for i := range brief {
		brief[i].StartTimeout = 3 * time.Second
	}
	for _, o := range startAll(t, brief[:2]...) {
		wants(t, "the third is down", o.err, context.DeadlineExceeded, "not answered", configs[2].ListenPeer[0])
	}
	for i, o := range startAll(t, brief...) {
		if i < 2 {
			wants(t, "the third has data", o.err, cluster.ErrReplace)
		} else {
			wants(t, "alone", o.err, context.DeadlineExceeded, "no leader")
		}
	}
}

func TestAllWiped(t *testing.T) {
	t.Parallel()
	configs := grown(t)
	wipe(t, configs...)
	allStarted(t, configs...)
}

// Only etcd's data is gone, or only what stands beside it.
func TestHalfWiped(t *testing.T) {
	t.Parallel()
	configs := grown(t)
	if err := os.RemoveAll(filepath.Join(configs[0].DataDir, "member")); err != nil {
		t.Fatal(err)
	}
	wants(t, "of three", refused(t, t.Context(), configs[0]), cluster.ErrReplace, "its data is gone", "member replace")

	one := single(t)
	shut(t, start(t, one))
	if err := os.RemoveAll(filepath.Join(one.DataDir, "member")); err != nil {
		t.Fatal(err)
	}
	wants(t, "single node", refused(t, t.Context(), one), cluster.ErrReplace, "data is gone", one.DataDir)
}

// edited returns a copy of cfg after change.
func edited(cfg cluster.Config, change func(*cluster.Config)) cluster.Config {
	change(&cfg)
	return cfg
}

func TestPeersDisagree(t *testing.T) {
	t.Parallel()
	shorter := func(c *cluster.Config) {
		peers := map[string][]string{}
		for _, name := range []string{"m0", "m1"} {
			peers[name] = c.InitialCluster[name]
		}
		c.InitialCluster = peers
	}
	for _, test := range []struct {
		name   string
		change func(*cluster.Config)
		words  string
	}{
		{"another list", shorter, "same list"},
		{"another floor", func(c *cluster.Config) { c.TokenFloor = 7 }, "--token-floor"},
		{"another heartbeat", func(c *cluster.Config) { c.Heartbeat, c.Election = 50*time.Millisecond, time.Second }, "--heartbeat is 100ms"},
		{"another election", func(c *cluster.Config) { c.Election = 5 * time.Second }, "--election 1s"},
		{"another token", func(c *cluster.Config) { c.ClusterToken = "x" }, "configure the same"},
	} {
		configs := clustertest.Configs(t, clustertest.Config{})
		other := edited(configs[1], test.change)
		for _, o := range startAll(t, configs[0], other) {
			wants(t, test.name, o.err, cluster.ErrDisagree)
		}
		if err := refusedWith(t, configs[0], other); !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: got %v, want %q in it", test.name, err, test.words)
		}
		allStarted(t, configs...) // nothing was decided
	}
}

// refusedWith returns the error of the first of two that are started together.
func refusedWith(t *testing.T, cfg, other cluster.Config) error {
	t.Helper()
	return startAll(t, cfg, other)[0].err
}

// A copied folder has the birth of the first, and is no folder of its own.
func TestCopiedFolder(t *testing.T) {
	t.Parallel()
	configs := clustertest.Configs(t, clustertest.Config{})
	for i := range configs {
		configs[i].StartTimeout = time.Second
		refused(t, t.Context(), configs[i])
		configs[i].StartTimeout = time.Minute
	}
	data, err := os.ReadFile(filepath.Join(configs[0].DataDir, "origin.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(configs[1].DataDir, "origin.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range startAll(t, configs[:2]...) {
		wants(t, "copied folder", o.err, cluster.ErrDisagree, "copies of each other")
	}
}

// Two members that were given one name.
func TestSameName(t *testing.T) {
	t.Parallel()
	configs := clustertest.Configs(t, clustertest.Config{})
	for i := range configs[:2] {
		configs[i] = edited(configs[i], func(c *cluster.Config) {
			peers := map[string][]string{"twin": c.ListenPeer}
			for name, addresses := range c.InitialCluster {
				if name != c.Name {
					peers[name] = addresses
				}
			}
			c.Name, c.InitialCluster = "twin", peers
		})
	}
	for _, o := range startAll(t, configs[:2]...) {
		wants(t, "same name", o.err, cluster.ErrDisagree, `"twin"`, "--name")
	}
}

// What listens at a peer's address is no member of this cluster.
func TestForeignServerAtPeer(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	at := func(address string) cluster.Config {
		return edited(clustertest.Configs(t, clustertest.Config{})[0], func(c *cluster.Config) {
			c.StartTimeout = 2 * time.Second
			c.InitialCluster["m1"] = []string{address}
		})
	}
	err := refused(t, t.Context(), at(web.Listener.Addr().String()))
	wants(t, "a web server", err, context.DeadlineExceeded, web.Listener.Addr().String(), "something else than fencelock", "--peers")

	foreign := start(t, single(t))
	err = refused(t, t.Context(), at(strings.TrimPrefix(foreign.PeerAddrs()[0], "http://")))
	wants(t, "another cluster", err, cluster.ErrReplace, foreign.PeerAddrs()[0], "--peers")
}

// shadow answers for a member that never shows a decision, until it is closed.
func shadow(t *testing.T, cfg cluster.Config, peers []string, birth string) *http.Server {
	t.Helper()
	answer := bootstrap.Answer{
		Protocol: 2, Member: "http://" + cfg.ListenPeer[0], Name: cfg.Name, Birth: birth, Peers: peers, Cluster: "fencelock",
		Heartbeat: 100 * time.Millisecond, Election: time.Second,
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(answer) })
	s := &http.Server{Addr: cfg.ListenPeer[0], Handler: handler}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.ListenAndServe() }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return s
}

// A member loses its folder after the others have decided on its birth, and before
// anyone ran: nothing is lost, and all say so. The same when it is not up.
func TestWipedDuringFirstStart(t *testing.T) {
	t.Parallel()
	configs := clustertest.Configs(t, clustertest.Config{})
	var peers []string
	for i := range configs {
		peers = append(peers, "http://"+configs[i].ListenPeer[0])
		configs[i].StartTimeout = time.Duration(4+2*i) * time.Second // the first gives up while the others are there
	}
	slices.Sort(peers)
	third := shadow(t, configs[2], peers, strings.Repeat("ab", 16))
	gaveUp := startAll(t, configs[:2]...)
	wants(t, "the third never decides", gaveUp[0].err, context.DeadlineExceeded, "decision", configs[2].ListenPeer[0])
	wants(t, "nor for the second", gaveUp[1].err, context.DeadlineExceeded)
	_ = third.Close()
	for _, o := range startAll(t, configs[:2]...) {
		wants(t, "the third is away", o.err, context.DeadlineExceeded, "not answered")
	}
	for _, o := range startAll(t, configs...) {
		wants(t, "the third is another", o.err, cluster.ErrInterrupted, "nothing was stored", "empty the folders")
	}
	wipe(t, configs...)
	for i := range configs {
		configs[i].StartTimeout = time.Minute
	}
	allStarted(t, configs...)
}
