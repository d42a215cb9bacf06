//go:build linux

// What members are given wrongly.

package faults

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/test/chaos/world"
)

// refusal bounds how long a member may take to say that something is wrong.
const refusal = 10 * time.Second

// Each wrong input ends the member in time, with an error that says what is wrong,
// and without a trace of the program's insides.
func TestBadInput(t *testing.T) {
	h := world.Loopback(2, 0)
	at, peer, busy := h.Members[0].Address+":2379", h.Members[0].Address+":2380", occupied(t, h.Members[1].Address)
	file := write(t, filepath.Join(t.TempDir(), "file"), "no PEM and no folder")
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "member", "wal", "0000000000000000-0000000000000000.wal"), "another program's")
	for name, test := range map[string]struct {
		args []string // beside addresses and a folder of its own, unless they say otherwise
		code int
		want []string
	}{
		"no certificate":          {[]string{"--client-cert", file + ".pem", "--client-key", file}, 1, []string{file + ".pem", "no such file"}},
		"certificate of text":     {[]string{"--peer-cert", file, "--peer-key", file}, 1, []string{file, "PEM"}},
		"certificate is a folder": {[]string{"--client-cert", foreign, "--client-key", file}, 1, []string{foreign, "is no file"}},
		"certificate without key": {[]string{"--client-cert", file}, 2, []string{"--client-key", "go together"}},
		"folder is a file":        {[]string{"--data-dir", file}, 1, []string{file, "not a directory"}},
		"folder cannot be made":   {[]string{"--data-dir", "/proc/fencelock/data"}, 1, []string{"/proc/fencelock"}},
		"folder of something":     {[]string{"--data-dir", foreign}, 1, []string{foreign, "use another folder"}},
		"client port in use":      {[]string{"--listen-client", busy}, 1, []string{busy, "another process listens there"}},
		"peer port in use":        {[]string{"--listen-peer", busy}, 1, []string{busy, "another process listens there"}},
		"metrics port in use":     {[]string{"--listen-metrics", busy}, 1, []string{busy, "in use"}},
		"one port for two":        {[]string{"--listen-client", peer}, 1, []string{peer}},
		"an address of nobody's":  {[]string{"--listen-client", "192.0.2.1:2379"}, 1, []string{"192.0.2.1:2379"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"server", "--listen-client", at, "--listen-peer", peer, "--data-dir", filepath.Join(t.TempDir(), "data")}, test.args...)
			r := finish(t, refusal, args...).want(t, test.code, append(test.want, "fencelock: ")...)
			for _, inside := range []string{"goroutine ", "panic", ".go:"} {
				if strings.Contains(r.stderr, inside) {
					t.Errorf("standard error has %q: %s", inside, r.stderr)
				}
			}
			t.Logf("after %v: %s", r.took.Round(time.Millisecond), r.stderr)
		})
	}
}

// A member that others have to answer says within seconds for whom it waits, and
// why, and goes on waiting: for a minute, or to join, without end.
func TestWaitingIsExplained(t *testing.T) {
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	other := strings.TrimPrefix(stranger.URL, "http://")
	h := world.Loopback(2, 0)
	me := h.Members[0].Address + ":2380"
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"peers that are not there": {[]string{"--peers", me + "," + h.Members[1].Address + ":2380", "--name", me}, []string{h.Members[1].Address, "connection refused", "start them"}},
		"a stranger at a peer's":   {[]string{"--peers", me + "," + other, "--name", me}, []string{other, "something else than fencelock answers there", "correct --peers"}},
		"a host nobody knows":      {[]string{"--peers", me + ",none.invalid:2380", "--name", me}, []string{"none.invalid", "start them"}},
		"nobody to join":           {[]string{"--join", h.Members[1].Address + ":2379"}, []string{"waiting for an answer", h.Members[1].Address}},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"server", "--listen-client", h.Members[0].Address + ":2379", "--listen-peer", me, "--data-dir", filepath.Join(t.TempDir(), "data")}, test.args...)
			p := start(t, args...)
			says(t, p, refusal, test.want...)
			if err := p.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			ends(t, p, refusal, 0, "")
		})
	}
}

// Two members that disagree are no cluster; one of them, at least, says why.
func TestMembersThatDisagree(t *testing.T) {
	for name, test := range map[string]struct {
		second []string // what the second has instead, or one more peer
		want   string
	}{
		"two lists":  {[]string{"--peers", "127.0.0.9:2380"}, "give all members the same list"},
		"two floors": {[]string{"--token-floor", "77"}, "give all members the same --token-floor"},
		"one name":   {[]string{"--name", "FIRST"}, "correct --peers"},
	} {
		t.Run(name, func(t *testing.T) {
			h := world.Loopback(2, 0)
			first, second := h.Members[0].Address+":2380", h.Members[1].Address+":2380"
			member := func(i int, args ...string) *world.Process {
				words := []string{"server", "--peers", first + "," + second, "--name", h.Members[i].Address + ":2380", "--data-dir", filepath.Join(t.TempDir(), "data"),
					"--listen-peer", h.Members[i].Address + ":2380", "--listen-client", h.Members[i].Address + ":2379"}
				for _, arg := range args {
					words = append(words, strings.NewReplacer("FIRST", first, "SECOND", second).Replace(arg))
				}
				return start(t, words...)
			}
			p, q := member(0), member(1, test.second...)
			select {
			case <-p.Ended():
			case <-q.Ended():
				p = q
			case <-time.After(refusal):
			}
			ends(t, p, refusal, 1, test.want)
		})
	}
}

func occupied(t *testing.T, host string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
