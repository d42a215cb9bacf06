package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing/keys"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// configFor measures a cluster with three clients.
func configFor(t *testing.T, cluster *clustertest.Cluster) Config {
	t.Helper()
	space, err := keys.NewSpace(keys.DefaultNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Connect:  func() (*client.Client, error) { return client.New(client.Config{Endpoints: cluster.Endpoints()}) },
		Space:    space,
		Clients:  3,
		Duration: 200 * time.Millisecond,
		Works:    Works(),
	}
}

// mustBeClean: there is no key in the whole store.
func mustBeClean(t *testing.T, cluster *clustertest.Cluster) {
	t.Helper()
	c, err := client.New(client.Config{Endpoints: cluster.Endpoints()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, err := c.Etcd().Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all.Kvs {
		t.Errorf("left behind: %s", kv.Key)
	}
}

func TestRun(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	cfg := configFor(t, cluster)
	told := map[string]time.Duration{}
	cfg.Progress = func(work string, done, _ time.Duration) { told[work] = done }
	report, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Measured) != len(Works()) {
		t.Fatalf("%d works were measured, want %v", len(report.Measured), Works())
	}
	for i, r := range report.Measured {
		sum := int64(0)
		for _, bar := range r.Bars {
			sum += bar.Count
		}
		if r.Work != Works()[i] || r.Clients != 3 || r.Operations < 3 || sum != r.Operations || r.Rate <= 0 {
			t.Errorf("%+v: want %s, by three clients, with at least an operation each", r, Works()[i])
		}
		if r.P50 <= 0 || r.P90 < r.P50 || r.P99 < r.P90 || r.Max < r.P99-r.P99/100 {
			t.Errorf("%s: percentiles %d, %d, %d, %d do not rise", r.Work, r.P50, r.P90, r.P99, r.Max)
		}
		if told[r.Work] != cfg.Duration {
			t.Errorf("%s: progress up to %v, want %v", r.Work, told[r.Work], cfg.Duration)
		}
	}
	mustBeClean(t, cluster)
}

// A hand-over needs two clients, and only what was asked for is done.
func TestSomeWorks(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	cfg := configFor(t, cluster)
	cfg.Clients, cfg.Works = 1, []string{"handover"}
	report, err := Run(t.Context(), cfg)
	if err != nil || len(report.Measured) != 1 || report.Measured[0].Clients != 2 {
		t.Errorf("got %+v, %v; want handover by two clients", report, err)
	}
}

// Whatever interrupts it, in whichever work, nothing is left behind.
func TestInterrupted(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	for _, work := range Works() {
		ctx, cancel := context.WithCancel(t.Context())
		cfg := configFor(t, cluster)
		cfg.Works, cfg.Duration = []string{work}, time.Hour
		cfg.Progress = func(_ string, done, _ time.Duration) {
			if done > 100*time.Millisecond {
				cancel()
			}
		}
		if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want it to be interrupted", work, err)
		}
		cancel()
		mustBeClean(t, cluster)
	}
}

func TestWithoutACluster(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	cfg := configFor(t, cluster)
	cluster.Stop(0)
	cfg.Connect = func() (*client.Client, error) {
		return client.New(client.Config{Endpoints: cluster.Endpoints(), DialTimeout: 300 * time.Millisecond})
	}
	if _, err := Run(t.Context(), cfg); !errors.Is(err, client.ErrUnavailable) || !strings.Contains(err.Error(), "measure lock") {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestPicture(t *testing.T) {
	report := Report{Clients: 2, Seconds: 5, Measured: []Result{
		{Work: "lock", Clients: 2, Operations: 3, P50: 1500, P90: 1600, P99: 1_100_000, Max: 1_200_000,
			Bars: []Bar{{1400 * time.Microsecond, 1600 * time.Microsecond, 2}, {time.Second, 1200 * time.Millisecond, 1}}},
		{Work: "put", Clients: 2},
	}}
	var page bytes.Buffer
	if err := report.WriteHTML(&page, time.Unix(0, 0).UTC(), "<a&b>"); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, part := range []string{"<h2>lock</h2>", "p50 1.5ms", "p99 1.1s", "&lt;a&amp;b&gt;", ": 2 operations", "1 January 1970", "1ms<", "10s<"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	for _, part := range []string{"<script", "http:", "https:", "src=", "@import", "url("} {
		if strings.Contains(text, part) {
			t.Errorf("the page has %q, so it is not whole by itself", part)
		}
	}
	svg := text[strings.Index(text, "<svg") : strings.Index(text, "</svg>")+6]
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

func TestMicros(t *testing.T) {
	for n, want := range map[int64]string{0: "0s", 7: "7µs", 1234: "1.23ms", 12345: "12.3ms", 1234567: "1.23s"} {
		if got := Micros(n).String(); got != want {
			t.Errorf("Micros(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestReportAsJSON(t *testing.T) {
	text, err := json.Marshal(Report{Measured: []Result{{Work: "lock", Bars: []Bar{{}}}}})
	want := `{"clients":0,"seconds":0,"works":[{"work":"lock","clients":0,"operations":0,"per_second":0,"p50_us":0,"p90_us":0,"p99_us":0,"max_us":0}]}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
}
