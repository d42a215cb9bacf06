package config

import "testing"

// A member that listens on all interfaces is asked on loopback.
func TestHealthAddress(t *testing.T) {
	for listen, want := range map[string]string{
		"":             "127.0.0.1:2381",
		"off":          "",
		"0.0.0.0:9":    "127.0.0.1:9",
		"[::]:9":       "[::1]:9",
		"10.1.2.3:9":   "10.1.2.3:9",
		"m1.example:9": "m1.example:9",
	} {
		if got := (Server{ListenMetrics: listen}).HealthAddress(); got != want {
			t.Errorf("%q: got %q, want %q", listen, got, want)
		}
	}
}
