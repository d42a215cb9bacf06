package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// monitored starts a cluster whose members answer for health and metrics.
func monitored(t *testing.T, members int, edit func(*cluster.Config)) *clustertest.Cluster {
	t.Helper()
	return clustertest.StartConfig(t, clustertest.Config{Members: members, Edit: func(_ int, cfg *cluster.Config) {
		cfg.ListenMetrics = "127.0.0.1:0"
		if edit != nil {
			edit(cfg)
		}
	}})
}

// look asks a member's listener.
func look(t *testing.T, m *cluster.Member, path string) (code int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+m.MetricsAddr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("get %s: %v", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func wantLook(t *testing.T, m *cluster.Member, path string, code int, part string) {
	t.Helper()
	if got, text := look(t, m, path); got != code || !strings.Contains(text, part) {
		t.Errorf("%s: got %d %q, want %d and %q", path, got, text, code, part)
	}
}

// metric reads one value from /metrics.
func metric(t *testing.T, m *cluster.Member, name string) float64 {
	t.Helper()
	_, text := look(t, m, "/metrics")
	found := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(name) + " (.*)$").FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("/metrics has no %s", name)
	}
	v, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// awaitMetric waits for the next counts to bring the value.
func awaitMetric(t *testing.T, m *cluster.Member, name string, want float64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for got := metric(t, m, name); got != want; got = metric(t, m, name) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestReadyz(t *testing.T) {
	t.Parallel()
	c := monitored(t, 3, nil)
	for _, m := range c.Members {
		wantLook(t, m, "/livez", http.StatusOK, "alive")
		wantLook(t, m, "/readyz", http.StatusOK, "ready")
	}
	c.Kill(1)
	c.Kill(2)
	wantLook(t, c.Members[0], "/livez", http.StatusOK, "alive") // not its fault, and no restart would help
	wantLook(t, c.Members[0], "/readyz", http.StatusServiceUnavailable, "no majority")
}

// An alarm by hand does what a full store does, and is taken back.
func TestReadyzAlarms(t *testing.T) {
	t.Parallel()
	c := monitored(t, 1, nil)
	m, etcd := c.Members[0], c.Client(t)
	awaitMetric(t, m, `fencelock_alarm{type="NOSPACE"}`, 0)
	for alarm, reason := range map[pb.AlarmType]string{pb.AlarmType_NOSPACE: "store is full", pb.AlarmType_CORRUPT: "data differ"} {
		raise := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: m.ID(), Alarm: alarm}
		if _, err := pb.NewMaintenanceClient(etcd.ActiveConnection()).Alarm(t.Context(), raise); err != nil {
			t.Fatal(err)
		}
		wantLook(t, m, "/readyz", http.StatusServiceUnavailable, reason)
		awaitMetric(t, m, fmt.Sprintf("fencelock_alarm{type=%q}", alarm.String()), 1)
		if _, err := etcd.AlarmDisarm(t.Context(), &clientv3.AlarmMember{MemberID: m.ID(), Alarm: alarm}); err != nil {
			t.Fatal(err)
		}
		wantLook(t, m, "/readyz", http.StatusOK, "ready")
	}
}

// A member that is being stopped says so while its clients move over: here one
// whose request lasts longer than it is waited for.
func TestReadyzDraining(t *testing.T) {
	t.Parallel()
	c := monitored(t, 1, nil)
	m := c.Members[0]
	c.Client(t).Watch(t.Context(), "x") // a stream, which is ended first
	leave, err := m.Occupy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); _ = m.Close() }()
	if !saysBeforeEnd(m, "being stopped", closed) {
		t.Error("/readyz never said that the member is being stopped")
	}
	leave()
	<-closed
}

// saysBeforeEnd asks without a pause whether the member is ready, until it says so
// or has ended.
func saysBeforeEnd(m *cluster.Member, what string, ended <-chan struct{}) bool {
	// A client of its own: others close the idle connections of the default one.
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		if resp, err := web.Get("http://" + m.MetricsAddr() + "/readyz"); err == nil {
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if strings.Contains(string(text), what) {
				return true
			}
		}
		select {
		case <-ended:
			return false
		default:
		}
	}
}

// There is nothing else on the listener.
func TestMonitorExposure(t *testing.T) {
	t.Parallel()
	c := monitored(t, 1, nil)
	for _, path := range []string{"/", "/debug/pprof/", "/debug/vars", "/debug/requests", "/health", "/version", "/v3/kv/range", "/livez/x"} {
		wantLook(t, c.Members[0], path, http.StatusNotFound, "")
	}
	resp, err := http.Post("http://"+c.Members[0].MetricsAddr()+"/livez", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("post: got %d, want %d", resp.StatusCode, http.StatusMethodNotAllowed)
	}
}

func TestMonitorPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := single(t)
	cfg.ListenMetrics = l.Addr().String()
	err = refused(t, t.Context(), cfg)
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "health and metrics") || !strings.Contains(err.Error(), "another port") {
		t.Errorf("got %v, want that the port is in use, and what to do", err)
	}
	cfg.MetricsOptional = true // nobody has asked for this port
	m := start(t, cfg)
	if got := m.MetricsAddr(); got != "" {
		t.Errorf("listens on %q, want nowhere", got)
	}
}

// The census has locks, waiters, permits, fences and leases, on every member, and
// each member its own.
func TestCensus(t *testing.T) {
	t.Parallel()
	c := monitored(t, 3, nil)
	etcd := c.Client(t)
	lease, err := etcd.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour).Format(time.RFC3339)
	for _, kv := range [][2]string{
		{"lock/a/@/1-1", `{"mode":"exclusive","since":"` + old + `"}`}, {"lock/a/@/2-1", `{"mode":"shared"}`},
		{"lock/a/b/@/1-2", `{"mode":"shared"}`}, {"lock/a/b/@/1-3", `{"mode":"shared"}`}, {"lock/a/b/@/2-2", ""}, {"lock/a-b/@/1-4", ""},
		{"semaphore/s/@/1-1", ""}, {"semaphore/s/@/1-2", ""}, {"semaphore/s/@/1-3", ""}, {"semaphore/s/limit", "2"}, {"semaphore/s/t/@/1-1", ""}, {"semaphore/s/t/limit", "2"},
		{"fence/a", "0000000000000001"}, {"fence/b", "0000000000000001"}, {"kv/a/@/x", "1"},
	} {
		if _, err := etcd.Put(t.Context(), "fencelock/"+kv[0], kv[1], clientv3.WithLease(lease.ID)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range c.Members {
		awaitMetric(t, m, "fencelock_locks_held", 3)
		for name, want := range map[string]float64{"waiters": 3, "permits_held": 3, "sessions": 1, "fences": 2, "ready": 1} {
			if got := metric(t, m, "fencelock_"+name); got != want {
				t.Errorf("member %s: %s: got %v, want %v", m.Name(), name, got, want)
			}
		}
		if got := metric(t, m, "fencelock_oldest_claim_age_seconds"); got < 3600 || got > 3700 {
			t.Errorf("oldest claim: got %v s, want an hour", got)
		}
		if got := metric(t, m, "fencelock_revision"); got < 15 {
			t.Errorf("revision: got %v, want at least 15", got)
		}
		metric(t, m, "etcd_server_has_leader")
	}
	if _, err := etcd.Delete(t.Context(), "fencelock/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	awaitMetric(t, c.Members[0], "fencelock_locks_held", 0)
	awaitMetric(t, c.Members[0], "fencelock_oldest_claim_age_seconds", 0)
}
