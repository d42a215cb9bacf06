package metrics_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/client/metrics"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/test/netfault"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// limit is for what takes milliseconds, on a loaded machine.
const limit = 30 * time.Second

// bench is a cluster, and a client whose doings are counted.
type bench struct {
	*client.Client
	cluster  *clustertest.Cluster
	etcd     *clientv3.Client
	registry *prometheus.Registry
}

func newBench(t *testing.T, cfg client.Config) *bench {
	t.Helper()
	b := &bench{registry: prometheus.NewRegistry()}
	b.cluster = clustertest.StartConfig(t, clustertest.Config{Members: 1, Heartbeat: 20 * time.Millisecond, Election: 200 * time.Millisecond})
	b.etcd = b.cluster.Client(t)
	m := metrics.New()
	b.registry.MustRegister(m)
	cfg.Observer = m
	if cfg.Endpoints == nil {
		cfg.Endpoints = b.cluster.Endpoints()
	}
	b.Client = connect(t, cfg)
	return b
}

func connect(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// value is that of a counter, or how often a histogram has observed something;
// label is the value of its only label, if it has one.
func (b *bench) value(t *testing.T, name, label string) int {
	t.Helper()
	families, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "fencelock_client_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				return int(h.GetSampleCount())
			}
			if has(m, label) {
				return int(m.GetCounter().GetValue())
			}
		}
	}
	return 0
}

func has(m *dto.Metric, label string) bool {
	return len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == label
}

// want compares every metric with what was expected; those not named are 0.
func (b *bench) want(t *testing.T, expected map[string]int) {
	t.Helper()
	for _, name := range []string{
		"acquisitions_total acquired", "acquisitions_total locked", "acquisitions_total cancelled",
		"acquisitions_total unavailable", "acquisitions_total lost", "acquisitions_total failed",
		"wait_seconds", "hold_seconds", "losses_total claim", "losses_total lease", "losses_total deadline",
		"refused_operations_total stale", "refused_operations_total not_held", "refused_operations_total not_issued",
	} {
		metric, label, _ := strings.Cut(name, " ")
		if got, want := b.value(t, metric, label), expected[name]; got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

func (b *bench) hold(t *testing.T, name string) *client.Lock {
	t.Helper()
	l, err := b.Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(limit):
		t.Fatalf("%s: nothing within %v", what, limit)
		panic("unreachable")
	}
}

func TestAcquisitions(t *testing.T) {
	b := newBench(t, client.Config{})
	b.want(t, nil)
	l := b.hold(t, "secret-name")
	s, err := b.LockShared(t.Context(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Semaphore("jobs", 1).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.LockAll(t.Context(), "x", "y")
	if err != nil {
		t.Fatal(err)
	}
	b.want(t, map[string]int{"acquisitions_total acquired": 4, "wait_seconds": 4})
	_, _ = b.TryLock(t.Context(), "secret-name")
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _ = b.Lock(short, "secret-name")
	cancelled, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := b.Campaign(cancelled, "secret-name", nil)
		waiting <- err
	}()
	for info, err := b.Inspect(t.Context(), "secret-name"); len(info.Waiters) == 0; info, err = b.Inspect(t.Context(), "secret-name") {
		if err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	receive(t, waiting, "a cancelled Campaign")
	_, _ = b.Semaphore("jobs", 2).Acquire(t.Context())
	_, _ = b.Lock(t.Context(), "a//b")     // not asked for at all
	_, _ = b.Lock(cancelled, "other")      // nor is this
	_, _ = b.Lock(l.Context(), l.Name())   // nor this
	_, _ = b.LockAll(t.Context() /*none*/) // nor this
	outcomes := map[string]int{
		"acquisitions_total acquired": 4, "wait_seconds": 4,
		"acquisitions_total locked": 2, "acquisitions_total cancelled": 1, "acquisitions_total failed": 1,
	}
	b.want(t, outcomes)
	for _, release := range []func(context.Context) error{l.Unlock, s.Unlock, p.Release, all.Unlock, l.Unlock} {
		_ = release(t.Context())
	}
	outcomes["hold_seconds"] = 4 // the second Unlock is none
	b.want(t, outcomes)
	checkNames(t, b)
}

// Nothing that Prometheus objects to, and no lock's name.
func checkNames(t *testing.T, b *bench) {
	t.Helper()
	problems, err := testutil.GatherAndLint(b.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	families, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if text := family.String(); strings.Contains(text, "secret-name") {
			t.Errorf("a lock's name is in %s", text)
		}
	}
}

// Each loss by what ended it.
func TestLosses(t *testing.T) {
	b := newBench(t, client.Config{})
	other := connect(t, client.Config{Endpoints: b.cluster.Endpoints()})
	broken, unnoticed := b.hold(t, "broken"), b.hold(t, "unnoticed")
	if err := other.Break(t.Context(), "broken", broken.Token()); err != nil {
		t.Fatal(err)
	}
	receive(t, broken.Done(), "the end of a broken lock")
	_ = broken.Unlock(t.Context())
	if err := unnoticed.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	unnoticed = b.hold(t, "unnoticed")
	if err := other.Break(t.Context(), "unnoticed", unnoticed.Token()); err != nil {
		t.Fatal(err)
	}
	_ = unnoticed.Unlock(t.Context()) // finds out
	expected := map[string]int{"acquisitions_total acquired": 3, "wait_seconds": 3, "hold_seconds": 3, "losses_total claim": 2}
	b.want(t, expected)

	s, err := b.NewSession(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if _, err := s.Lock(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.etcd.Revoke(t.Context(), clientv3.LeaseID(s.Lease())); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(t.Context(), "three"); err == nil {
		t.Error("a lock of a session whose lease was revoked: got it")
	}
	expected["acquisitions_total acquired"], expected["wait_seconds"] = 5, 5
	expected["acquisitions_total lost"] = 1
	expected["hold_seconds"], expected["losses_total lease"] = 5, 2
	b.want(t, expected)
}

// The end of the default session's lease, which nobody has noticed, is no failed
// acquisition: another session takes over.
func TestAcquisitionThroughANewSessionCountsOnce(t *testing.T) {
	b := newBench(t, client.Config{})
	if err := b.hold(t, "first").Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	leases, err := b.etcd.Leases(t.Context())
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("leases %v, %v, want one", leases, err)
	}
	if _, err := b.etcd.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	b.hold(t, "second")
	b.want(t, map[string]int{"acquisitions_total acquired": 2, "wait_seconds": 2, "hold_seconds": 1})
}

// Nobody answers: renewals fail, the deadline ends the lock, and no other is had.
func TestNobodyAnswers(t *testing.T) {
	cluster := clustertest.StartConfig(t, clustertest.Config{Members: 1, Heartbeat: 20 * time.Millisecond, Election: 200 * time.Millisecond})
	proxy := netfault.New(t, cluster.Endpoint(0))
	b := newBench(t, client.Config{Endpoints: []string{proxy.Addr()}, TTL: 2 * time.Second, DialTimeout: 300 * time.Millisecond})
	l := b.hold(t, "orders")
	for b.value(t, "renewals_total", "renewed") == 0 {
		select {
		case <-l.Done():
			t.Fatal("the lock was lost before it was renewed")
		case <-time.After(10 * time.Millisecond):
		}
	}
	proxy.Stall()
	receive(t, l.Done(), "the end of the lock")
	_, _ = b.Lock(t.Context(), "orders")
	b.want(t, map[string]int{
		"acquisitions_total acquired": 1, "wait_seconds": 1, "hold_seconds": 1,
		"losses_total deadline": 1, "acquisitions_total unavailable": 1,
	})
	if got := b.value(t, "renewals_total", "failed"); got == 0 {
		t.Error("no renewal has failed")
	}
	if got, want := b.value(t, "renewal_seconds", ""), b.value(t, "renewals_total", "renewed")+b.value(t, "renewals_total", "failed"); got != want {
		t.Errorf("%d renewals were timed, want all %d", got, want)
	}
}

func TestRefusedOperations(t *testing.T) {
	b := newBench(t, client.Config{})
	old := b.hold(t, "orders")
	seq := old.Sequencer()
	if _, err := old.KV().Put(t.Context(), "k", nil); err != nil {
		t.Fatal(err)
	}
	put := func() {
		handle, err := b.KV(seq)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = handle.Put(t.Context(), "k", nil)
	}
	put()
	if err := old.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	put()
	expected := map[string]int{"acquisitions_total acquired": 1, "wait_seconds": 1, "hold_seconds": 1, "refused_operations_total not_held": 1}
	b.want(t, expected)
	next := b.hold(t, "orders")
	if _, err := next.KV().Put(t.Context(), "k", nil); err != nil {
		t.Fatal(err)
	}
	put()
	seq.Token = 1 << 40
	put()
	_ = next.Unlock(t.Context())
	_, _ = next.KV().Get(t.Context(), "k") // refused without asking
	expected["acquisitions_total acquired"], expected["wait_seconds"], expected["hold_seconds"] = 2, 2, 2
	expected["refused_operations_total stale"], expected["refused_operations_total not_issued"] = 1, 1
	expected["refused_operations_total not_held"] = 2
	b.want(t, expected)
}
