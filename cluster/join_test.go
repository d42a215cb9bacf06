package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
	roster "github.com/fencelock/fencelock/cluster/members"
)

// via is the way to the members of c.
func via(c *clustertest.Cluster) cluster.Via { return cluster.Via{Endpoints: c.Endpoints()} }

// guest is a member that is not in a cluster yet.
func guest(t *testing.T, name string) cluster.Config {
	t.Helper()
	cfg := single(t)
	cfg.InitialCluster = nil
	cfg.Name = name
	return cfg
}

func join(t *testing.T, c *clustertest.Cluster, cfg cluster.Config) *cluster.Member {
	t.Helper()
	m, err := cluster.Join(t.Context(), cfg, via(c))
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	t.Cleanup(func() { shut(t, m) })
	return m
}

// members lists "name voter" or "name learner".
func members(t *testing.T, c *clustertest.Cluster) []string {
	t.Helper()
	list, err := c.Client(t).MemberList(t.Context())
	if err != nil {
		t.Fatalf("list members: %v", err)
	}
	var texts []string
	for _, m := range list.Members {
		role := "voter"
		if m.IsLearner {
			role = "learner"
		}
		texts = append(texts, m.Name+" "+role)
	}
	return texts
}

func TestJoin(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	put(t, c.Client(t), "k", "v")
	cfg := guest(t, "new")
	m, err := cluster.Join(t.Context(), cfg, via(c))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(members(t, c), ", "); !strings.Contains(got, "new voter") {
		t.Errorf("members %s, want new to vote", got)
	}
	got, err := dial(t, m).Get(t.Context(), "k")
	if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "v" {
		t.Errorf("read through the new member: %v, %v; want v", got, err)
	}
	shut(t, m)

	// The same call starts it again, and asks nobody for that.
	again, err := cluster.Join(t.Context(), cfg, cluster.Via{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatalf("second start: %v", err)
	}
	shut(t, again)
}

// A learner was added and never started: the call goes on from there, with a new
// id, since the old one may have been used by a folder that is lost.
func TestJoinOfOneThatWasAdded(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	cfg := guest(t, "new")
	added, err := c.Client(t).MemberAddAsLearner(t.Context(), []string{"http://" + cfg.ListenPeer[0]})
	if err != nil {
		t.Fatal(err)
	}
	if m := join(t, c, cfg); m.ID() == added.Member.ID {
		t.Errorf("it has the id %x of the learner that was there", m.ID())
	}
	if got := members(t, c); len(got) != 2 {
		t.Errorf("members %v, want 2", got)
	}
}

// Started and not promoted: the call goes on from there, also on a learner that was
// started otherwise, and though the member that it was told to ask is gone.
func TestJoinOfALearner(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	cfg := guest(t, "new")
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Logger = zap.New(zapcore.NewNopCore(), zap.WrapCore(func(zapcore.Core) zapcore.Core { return onPublish{cancel} }))
	if m, err := cluster.Join(ctx, cfg, via(c)); err == nil {
		shut(t, m)
		t.Fatal("a join that was interrupted after its start: got no error")
	}
	if got := members(t, c); !slices.Contains(got, "new learner") {
		t.Fatalf("members %v, want new to be a learner", got)
	}
	cfg.Logger = nil
	m, err := cluster.Join(t.Context(), cfg, cluster.Via{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatalf("join through a member that is gone: %v", err)
	}
	t.Cleanup(func() { shut(t, m) })
	if got := members(t, c); !slices.Contains(got, "new voter") {
		t.Errorf("members %v, want new to vote", got)
	}
}

// onPublish is a log that ends a context when etcd has told the cluster its name,
// which it does once it runs.
type onPublish struct{ cancel context.CancelFunc }

func (onPublish) Enabled(zapcore.Level) bool                 { return true }
func (c onPublish) With([]zapcore.Field) zapcore.Core        { return c }
func (onPublish) Write(zapcore.Entry, []zapcore.Field) error { return nil }
func (onPublish) Sync() error                                { return nil }

func (c onPublish) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if strings.HasPrefix(e.Message, "published local member to cluster") {
		c.cancel()
	}
	return checked
}

// Two at once, while the cluster takes one learner at a time.
func TestTwoJoin(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	var joining sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		cfg := guest(t, name)
		joining.Go(func() {
			m, err := cluster.Join(t.Context(), cfg, via(c))
			if err != nil {
				t.Errorf("join %s: %v", name, err)
				return
			}
			t.Cleanup(func() { shut(t, m) })
		})
	}
	joining.Wait()
	if got := members(t, c); len(got) != 3 || strings.Contains(strings.Join(got, ","), "learner") {
		t.Errorf("members %v, want three voters", got)
	}
}

func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	taken := guest(t, "new")
	taken.AdvertisePeer = c.Config(0).ListenPeer
	wiped := guest(t, "m0")
	wiped.AdvertisePeer = c.Config(0).ListenPeer
	secure := guest(t, "new")
	secure.AdvertisePeer = []string{"https://" + secure.ListenPeer[0]}
	unready := guest(t, "new")
	unready.ClientTLS = cluster.TLS{CertFile: "none.pem", KeyFile: "none.key"}
	alone := single(t)
	shut(t, start(t, alone))
	for name, test := range map[string]struct {
		cfg  cluster.Config
		is   error
		says []string
	}{
		"name":    {guest(t, "m0"), cluster.ErrClash, []string{`"m0" is the name of its member`, "--name", "member replace m0 --peer"}},
		"address": {taken, cluster.ErrClash, []string{c.Config(0).ListenPeer[0], `its member "m0"`, "--advertise-peer"}},
		"wiped":   {wiped, cluster.ErrClash, []string{"has run before, and this folder is empty", "fencelock member replace m0"}},
		"scheme":  {secure, nil, []string{"https, but no certificate"}},
		"files":   {unready, nil, []string{"client TLS", "none.pem"}},
		"foreign": {alone, cluster.ErrForeignFolder, []string{"did not join", "without --join"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := cluster.Join(t.Context(), test.cfg, via(c))
			if err == nil {
				shut(t, m)
				t.Fatal("got no error")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
			for _, part := range test.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not contain %q", err, part)
				}
			}
		})
	}
	if got := members(t, c); len(got) != 1 {
		t.Errorf("members %v, want m0 alone", got)
	}
}

// Nobody answers: an error that names who did not, within the time.
func TestJoinUnanswered(t *testing.T) {
	t.Parallel()
	cfg := guest(t, "new")
	cfg.StartTimeout = time.Second
	_, err := cluster.Join(t.Context(), cfg, cluster.Via{Endpoints: []string{"127.0.0.1:1"}})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("got %v, want a deadline and the endpoint", err)
	}
}

// A learner that nobody starts holds the others up; the error says which one.
func TestJoinWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	if _, err := c.Client(t).MemberAddAsLearner(t.Context(), []string{"http://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	cfg := guest(t, "new")
	cfg.StartTimeout = 2 * time.Second
	_, err := cluster.Join(t.Context(), cfg, via(c))
	if err == nil || !strings.Contains(err.Error(), "one learner at a time") || !strings.Contains(err.Error(), "http://127.0.0.1:1") {
		t.Errorf("got %v, want to read which learner it waited for", err)
	}
}

// A member that was removed says so when its command is run again.
func TestJoinedAndRemoved(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	cfg := guest(t, "new")
	m := join(t, c, cfg)
	var refusals []string
	change := roster.NewChange(roster.Config{Etcd: c.Client(t), Waiting: func(why string) { refusals = append(refusals, why) }})
	if _, err := change.Remove(t.Context(), m.ID()); err != nil {
		t.Fatal(err)
	}
	t.Logf("waited for %q", refusals) // the new member has been connected for less than 5 s
	if err := <-m.Err(); !errors.Is(err, cluster.ErrRemoved) {
		t.Errorf("the running member: %v, want ErrRemoved", err)
	}
	shut(t, m)
	if _, err := cluster.Join(t.Context(), cfg, via(c)); !errors.Is(err, cluster.ErrRemoved) {
		t.Errorf("started again: %v, want ErrRemoved", err)
	}
}
