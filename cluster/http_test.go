package cluster_test

import (
	"net/http"
	"testing"
)

// What plain HTTP gets on the client port: health and metrics for programs
// that know the member's name, and nothing for pages from elsewhere.
func TestHTTPExposure(t *testing.T) {
	m := start(t, single(t))
	for _, test := range []struct {
		path, host, origin string
		want               int
	}{
		{"/health", "", "", http.StatusOK},
		{"/metrics", "", "", http.StatusOK},
		{"/health", "localhost:2379", "", http.StatusOK},
		{"/health", "", "http://evil.example", http.StatusOK}, // but see below
		{"/health", "evil.example", "", http.StatusMisdirectedRequest},
		{"/v3/kv/range", "", "", http.StatusNotFound},
		{"/debug/vars", "", "", http.StatusNotFound},
		{"/debug/pprof/", "", "", http.StatusNotFound},
		{"/debug/requests", "", "", http.StatusNotFound},
	} {
		resp := request(t, m.ClientAddrs()[0]+test.path, test.host, test.origin)
		if resp.StatusCode != test.want {
			t.Errorf("%s, host %q: got %d, want %d", test.path, test.host, resp.StatusCode, test.want)
		}
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s, origin %q: got a reply for pages of origin %q, want none", test.path, test.origin, got)
		}
	}
}

func request(t *testing.T, url, host, origin string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Close = true
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("get %s: %v", url, err)
	}
	_ = resp.Body.Close()
	return resp
}
