package interop

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
)

const (
	// handOvers are enough for a median that a few late ones do not move.
	handOvers = 31

	// slowest is more than a hand-over may take in the middle: one takes a
	// millisecond or two, and with etcd's own recipe 100 ms.
	slowest = 40 * time.Millisecond
)

// handOver passes a lock between two clients, as soon as the other has a claim, and
// once the other has settled down to wait.
func handOver(t *testing.T, s server, etcd *clientv3.Client, a, b *client.Client) {
	for when, settled := range map[string]func() bool{
		"at once":       func() bool { return true },
		"after a while": func() bool { return s.watchers(t) >= 3 }, // the holder's, and two of the waiter's or one that is kept
	} {
		name := "orders/" + when
		held := hold(t, a, name)
		took := make([]time.Duration, handOvers)
		for i := range took {
			waiting := goLock([]*client.Client{b, a}[i%2], name)
			awaitQueue(t, etcd, name, 2)
			eventually(t, "the waiter watches", settled)
			since := time.Now()
			unlock(t, held)
			held = receive(t, waiting)
			took[i] = time.Since(since)
		}
		unlock(t, held)
		slices.Sort(took)
		median := took[handOvers/2]
		t.Logf("hand-over %s: median %v, worst %v", when, median, took[handOvers-1])
		if median > slowest {
			t.Errorf("hand-over %s: median %v, want at most %v", when, median, slowest)
		}
	}
}

// watchers is how many watches the server keeps, by its own count.
func (s server) watchers(t *testing.T) int {
	t.Helper()
	resp, err := http.Get("http://" + s.endpoint + "/metrics")
	must(t, "metrics", err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, "metrics", err)
	const metric = "\netcd_debugging_mvcc_watcher_total "
	_, after, found := strings.Cut(string(text), metric)
	n := 0
	if _, err := fmt.Sscan(after, &n); !found || err != nil {
		t.Fatalf("metrics: no count of watchers")
	}
	return n
}
