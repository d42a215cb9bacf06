package main

import (
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// node is the arguments of a single member on ports of its own.
func node(dir, client, peer string) []string {
	return []string{"server", "--data-dir", dir, "--listen-client", client, "--listen-peer", peer}
}

// A single node: one line and no more when it is ready, one at a time on a folder,
// and an end without a complaint.
func TestServer(t *testing.T) {
	dir, client, peer := t.TempDir()+"/data", clustertest.FreeAddress(t), clustertest.FreeAddress(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		server := start(t, node(dir, client, peer)...)
		line, before := server.await(t, "ready ")
		if want := "ready name=default client=http://" + client; line != want || len(before) != 0 {
			t.Errorf("ready line %q after %q, want %q after nothing", line, before, want)
		}
		run(t, "status", "--endpoints", client).want(t, 0)

		began := time.Now()
		run(t, node(dir, clustertest.FreeAddress(t), clustertest.FreeAddress(t))...).want(t, 1, "fencelock: server: ", dir, "in use", "another folder")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a second start on the folder took %v", took)
		}
		run(t, node(t.TempDir(), client, clustertest.FreeAddress(t))...).want(t, 1, "address already in use")

		if code, rest := server.end(t, signal); code != 0 || len(rest) != 0 {
			t.Errorf("after %v: exit code %d and %q, want 0 and nothing", signal, code, rest)
		}
	}
}

// The same list on every host makes one cluster. Members on one host say by their
// name which one they are; or have names of their own, and say it by the address.
func TestServerPeers(t *testing.T) {
	for _, own := range []bool{false, true} {
		peers := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
		clients := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
		names := slices.Clone(peers)
		if own {
			names = []string{"red", "green", "blue"}
		}
		var servers []*process
		for i := range peers {
			servers = append(servers, start(t, "server", "--peers", strings.Join(peers, ","), "--name", names[i], "--listen-peer", peers[i],
				"--data-dir", filepath.Join(t.TempDir(), "data"), "--listen-client", clients[i]))
		}
		for i, server := range servers {
			line, _ := server.await(t, "ready ")
			if want := "ready name=" + names[i] + " client=http://" + clients[i]; line != want {
				t.Errorf("ready line %q, want %q", line, want)
			}
		}
		out := run(t, "status", "--endpoints", strings.Join(clients, ",")).want(t, 0).stdout
		for _, name := range names {
			if !strings.Contains(out, name) {
				t.Errorf("status %q does not name %s", out, name)
			}
		}
		for _, server := range servers {
			if code, rest := server.end(t, syscall.SIGTERM); code != 0 {
				t.Errorf("exit code %d, want 0; standard error %q", code, rest)
			}
		}
	}
}

// A member whose peers never come can be stopped while it waits for them.
func TestServerStoppedBeforeReady(t *testing.T) {
	me := clustertest.FreeAddress(t)
	server := start(t, "server", "--peers", strings.Join([]string{me, clustertest.FreeAddress(t), clustertest.FreeAddress(t)}, ","), "--name", me,
		"--data-dir", filepath.Join(t.TempDir(), "data"), "--listen-client", clustertest.FreeAddress(t), "--log-level", "info", "--log-format", "json")
	line, _ := server.await(t, "{")
	var entry map[string]any
	if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["level"] == nil || entry["msg"] == nil {
		t.Errorf("log line %q is no JSON with level and msg: %v", line, err)
	}
	if code, rest := server.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0; standard error %q", code, rest)
	}
}

// Beyond loopback and without TLS there is one loud warning.
func TestServerWarnsWithoutTLS(t *testing.T) {
	_, port, _ := net.SplitHostPort(clustertest.FreeAddress(t))
	server := start(t, "server", "--data-dir", filepath.Join(t.TempDir(), "data"),
		"--listen-client", "0.0.0.0:"+port, "--advertise-client", "127.0.0.1:"+port, "--listen-peer", clustertest.FreeAddress(t))
	_, before := server.await(t, "ready ")
	if len(before) != 1 || !strings.Contains(before[0], "NO TLS") {
		t.Errorf("before the ready line: %q, want one warning", before)
	}
	server.end(t, syscall.SIGTERM)
}

// An interruption by signal ends a command that waits for a cluster.
func TestSignalEndsCommand(t *testing.T) {
	p := start(t, "locks", "--endpoints", clustertest.FreeAddress(t), "--dial-timeout", "1h")
	l, err := net.Listen("tcp", p.cmd.Args[3])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := l.Accept() // it is at work
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	code, rest := p.end(t, syscall.SIGINT)
	if code != 1 || !slices.ContainsFunc(rest, func(s string) bool { return strings.HasPrefix(s, "fencelock: interrupted: ") }) {
		t.Errorf("exit code %d and %q, want 1 and an interruption", code, rest)
	}
}
