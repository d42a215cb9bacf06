package bootstrap

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
)

// What can answer at a peer's address.
func TestAsk(t *testing.T) {
	answers := func(a Answer) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(a) }
	}
	etcd := http.NewServeMux()
	etcd.HandleFunc("/members", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Etcd-Cluster-ID", "c1") })
	for _, test := range []struct {
		name    string
		handler http.Handler
		birth   string
		cluster string
		err     string
	}{
		{"a member", answers(Answer{Protocol: protocol, Birth: "b"}), "b", "", ""},
		{"etcd", etcd, "", "c1", ""},
		{"another version", answers(Answer{Protocol: protocol + 1, Birth: "b"}), "", "", "another version of fencelock"},
		{"a web server", http.NotFoundHandler(), "", "", "HTTP status 404"},
		{"a server that sends elsewhere", http.RedirectHandler("http://192.0.2.1/", http.StatusFound), "", "", "HTTP status 302"},
		{"JSON of something else", answers(Answer{}), "", "", "something else than fencelock"},
		{"silence", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "", "", "deadline exceeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := httptest.NewServer(test.handler)
			defer s.Close()
			h := askOnce(t, "http://127.0.0.1:1,"+s.URL) // nobody listens on port 1
			switch {
			case test.birth != "" && (h.Answer == nil || h.Answer.Birth != test.birth):
				t.Errorf("got %+v, want the answer of %s", h, test.birth)
			case h.Cluster != test.cluster:
				t.Errorf("got cluster %q, want %q", h.Cluster, test.cluster)
			case test.err != "" && (h.Err == nil || !strings.Contains(h.Err.Error(), test.err)):
				t.Errorf("got %v, want %q", h.Err, test.err)
			}
		})
	}
}

// A side with TLS and one without: each is told what may be the matter.
func TestAskWithTLSOnOneSide(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	hangsUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer hangsUp.Close() // as etcd's listeners with TLS do
	for name, url := range map[string]string{
		"https to a member without it": "https" + strings.TrimPrefix(plain.URL, "http"),
		"http to a member with it":     hangsUp.URL,
	} {
		if h := askOnce(t, url); h.Err == nil || !strings.Contains(h.Err.Error(), "TLS for peers") {
			t.Errorf("%s: got %v, want to read of TLS", name, h.Err)
		}
	}
}

func askOnce(t *testing.T, member string) Heard {
	t.Helper()
	a, err := newAsker(transport.TLSInfo{}, Answer{Member: "me", Peers: []string{"me", member}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return a.round(ctx)[member]
}
