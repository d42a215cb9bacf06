package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/httpfence"
)

// replicaSettings is the environment variable that makes this program a replica,
// and has its settings as JSON.
const replicaSettings = "PAYMENTS_REPLICA"

type settings struct {
	Name      string
	Endpoints []string      // of the cluster
	TTL       time.Duration // of the locks
	Ledger    string        // its URL
	Stops     bool          // once, when its first booking is about to leave
}

// serveReplica runs a replica until its standard input ends, which it does at the
// latest when the process that started it dies. It prints its URL when it is ready.
func serveReplica(ctx context.Context, text string) error {
	var cfg settings
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err
	}
	locks, err := client.New(client.Config{Endpoints: cfg.Endpoints, TTL: cfg.TTL, Owner: "replica " + cfg.Name})
	if err != nil {
		return err
	}
	defer locks.Close()
	base := http.DefaultTransport
	if cfg.Stops {
		base = &stopper{base: base}
	}
	service := &replica{locks: locks, url: cfg.Ledger, ledger: &http.Client{Transport: httpfence.Transport{Base: base}}}
	url, end, err := serve(service)
	if err != nil {
		return err
	}
	defer end()
	fmt.Println(url)
	gone := make(chan struct{})
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
	return nil
}

// serve serves HTTP on a free port of this machine.
func serve(handler http.Handler) (url string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "payments:", err)
		}
	}, nil
}

// stopper stops this process, once, when a booking is about to leave: behind every
// check of the replica, of its lock's client and of the HTTP client, and before the
// first byte.
type stopper struct {
	base http.RoundTripper
	once sync.Once
}

// RoundTrip stops, and sends when somebody has the process go on.
func (s *stopper) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	if r.Method == http.MethodPost {
		s.once.Do(func() { err = stopSelf() })
	}
	if err != nil {
		return nil, err
	}
	return s.base.RoundTrip(r)
}
