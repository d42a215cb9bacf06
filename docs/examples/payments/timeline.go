package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fencelock/fencelock/fencing/httpfence"
)

// timeline prints who did what, and when.
type timeline struct {
	start time.Time

	mu  sync.Mutex
	out io.Writer
}

func newTimeline(out io.Writer) *timeline { return &timeline{start: time.Now(), out: out} }

func (t *timeline) event(who, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "%6.2f s  %-9s  %s\n", time.Since(t.start).Seconds(), who, fmt.Sprintf(format, args...))
}

// requests has each request to a service in the timeline, with its answer, before
// the client has that.
func (t *timeline) requests(who string, service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(httpfence.Header)
		seen := &witness{ResponseWriter: w, status: http.StatusOK}
		service.ServeHTTP(seen, r)
		t.event(who, "%s %s from %s: %d %s", r.Method, r.URL.Path, token, seen.status, strings.TrimSpace(seen.text.String()))
	})
}

// witness remembers an answer.
type witness struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

// WriteHeader passes the status on.
func (w *witness) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write passes the body on.
func (w *witness) Write(b []byte) (int, error) {
	w.text.Write(b)
	return w.ResponseWriter.Write(b)
}
