package cli

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// answering listens, and says to each connection what answer does.
func answering(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer conn.Close()
				answer(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		work.Wait()
	})
	return l.Addr().String()
}

// A command that gets no answer says what is wrong with each endpoint.
func TestWhyNoAnswer(t *testing.T) {
	silent := answering(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	web := answering(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") })
	rude := answering(t, func(net.Conn) {})
	dead := deadEndpoint(t)
	for endpoint, want := range map[string]string{
		silent:                 silent + ": it takes connections, but does not answer",
		web:                    web + ": it is reachable, but does not answer as a member does",
		rude:                   rude + ": it is reachable, but does not answer as a member does",
		dead:                   dead + ": connection refused",
		"https://" + rude:      "https://" + rude + ": it ends a connection that begins with TLS",
		"https://" + web:       "https://" + web + ": it does not speak TLS",
		"nowhere.invalid:2379": "nowhere.invalid:2379: no such host",
	} {
		for _, args := range [][]string{{"locks"}, {"kv", "put", "g", "k", "v", "--sequencer", "g#1"}, {"check", "g#1"}} {
			at(endpoint).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=300ms").run(args...).want(t, codeFailure, want)
		}
	}
}

// A member that cannot join says what is wrong with the endpoint that it joins
// through, and nothing of those that other commands would use.
func TestWhyNoAnswerToJoin(t *testing.T) {
	t.Parallel()
	rude, dead := answering(t, func(net.Conn) {}), deadEndpoint(t)
	r := at(dead).run("server", "--join", rude, "--listen-metrics", "off", "--data-dir", t.TempDir(),
		"--listen-client", deadEndpoint(t), "--listen-peer", deadEndpoint(t))
	r.want(t, codeFailure, rude+": it is reachable, but does not answer as a member does")
	if strings.Contains(r.stderr, dead) {
		t.Errorf("it speaks of another endpoint, %s: %s", dead, r.stderr)
	}
}

// A member that wants a certificate hangs up, and its reason may be lost.
func TestGreetWithoutCertificate(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	picky := answering(t, func(c net.Conn) {
		_ = tls.Server(c, &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS13}).HandshakeContext(t.Context())
	})
	known := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	known.ServerName = "example.com" // in the certificate
	if err := greet(t.Context(), picky, known); !errors.Is(err, errHungUp) {
		t.Errorf("got %v, want %v", err, errHungUp)
	}
}
