package httpfence_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/httpfence"
)

// wire notes what is sent, and sends nothing.
type wire struct {
	sent []string
	idle int
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.sent = append(w.sent, r.Header.Values(httpfence.Header)...)
	if len(r.Header.Values(httpfence.Header)) == 0 {
		w.sent = append(w.sent, "none")
	}
	return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
}

func (w *wire) CloseIdleConnections() { w.idle++ }

// body knows whether it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error { b.closed = true; return nil }

func TestTransportChooses(t *testing.T) {
	a, b := fencing.Sequencer{Lock: "a", Token: 1}, fencing.Sequencer{Lock: "b c", Token: 2}
	names := func(lock string) func(*http.Request) string { return func(*http.Request) string { return lock } }
	for name, c := range map[string]struct {
		carries []fencing.Sequencer
		header  string
		guard   func(*http.Request) string
		sent    string
		err     error
	}{
		"none":                        {sent: "none"},
		"the only one":                {carries: []fencing.Sequencer{b}, sent: "b%20c#2"},
		"several":                     {carries: []fencing.Sequencer{a, b}, err: fencing.ErrWrongGuard},
		"several, and the guard":      {carries: []fencing.Sequencer{a, b}, guard: names("a"), sent: "a#1"},
		"no guard here":               {carries: []fencing.Sequencer{a}, guard: names(""), sent: "none"},
		"of another guard":            {carries: []fencing.Sequencer{a}, guard: names("c"), err: fencing.ErrWrongGuard},
		"none for a guarded request":  {guard: names("c"), err: fencing.ErrMissing},
		"set by hand":                 {carries: []fencing.Sequencer{a, b}, header: "a#7", sent: "a#7"},
		"set by hand, and no context": {header: "a#7", guard: names("c"), sent: "a#7"},
	} {
		ctx := context.Background()
		for _, seq := range c.carries {
			ctx = fencing.NewContext(ctx, seq)
		}
		content := &body{Reader: strings.NewReader("x")}
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://example.com/", content)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			r.Header.Set(httpfence.Header, c.header)
		}
		w := &wire{}
		_, err = httpfence.Transport{Base: w, Guard: c.guard}.RoundTrip(r)
		if got := strings.Join(w.sent, " "); got != c.sent || !errors.Is(err, c.err) {
			t.Errorf("%s: sent %q, %v, want %q, %v", name, got, err, c.sent, c.err)
		}
		if err != nil && !content.closed {
			t.Errorf("%s: the body of an unsent request is left open", name)
		}
		if got := r.Header.Get(httpfence.Header); got != c.header {
			t.Errorf("%s: the caller's request was changed to %q", name, got)
		}
	}
}

// A host that the caller has not chosen does not learn which lock is held, nor the
// token, also by a detour over a third one. A Guard decides for itself.
func TestRedirects(t *testing.T) {
	var got []string
	note := func(name string, next http.Handler) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, name+r.URL.Path+" "+strings.Join(r.Header.Values(httpfence.Header), " "))
			next.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	end := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	last := note("c", end)
	other := note("b", http.RedirectHandler(last.URL+"/3", http.StatusTemporaryRedirect))
	mux := http.NewServeMux()
	mux.Handle("/1", http.RedirectHandler("/2", http.StatusTemporaryRedirect))
	mux.Handle("/2", http.RedirectHandler(other.URL+"/2", http.StatusTemporaryRedirect))
	mine := note("a", mux)
	ctx := fencing.NewContext(t.Context(), fencing.Sequencer{Lock: "x", Token: 1})
	for want, transport := range map[string]httpfence.Transport{
		"a/1 x#1, a/2 x#1, b/2 , c/3 ":       {},
		"a/1 x#1, a/2 x#1, b/2 x#1, c/3 x#1": {Guard: func(*http.Request) string { return "x" }},
	} {
		got = nil
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, mine.URL+"/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("sent %q, want %q", all, want)
		}
	}
}

func TestTransportWithoutHeaders(t *testing.T) {
	w := &wire{}
	ctx := fencing.NewContext(t.Context(), fencing.Sequencer{Lock: "a", Token: 1})
	if _, err := (httpfence.Transport{Base: w}).RoundTrip((&http.Request{Method: http.MethodGet}).WithContext(ctx)); err != nil || w.sent[0] != "a#1" {
		t.Errorf("sent %q, %v, want a#1", w.sent, err)
	}
	(&http.Client{Transport: httpfence.Transport{Base: w}}).CloseIdleConnections()
	if w.idle != 1 {
		t.Errorf("closed idle connections %d times, want once", w.idle)
	}
}
