package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// Two of three hosts are lost for good. The way back, as the operations guide has
// it: a snapshot, a restore on every host, the usual command.
func TestRestoreAfterTheLossOfAMajority(t *testing.T) {
	peers := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
	clients := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
	endpoints, file := strings.Join(clients, ","), filepath.Join(t.TempDir(), "day.db")
	startAll := func(dirs []string) (servers []*process) {
		for i := range peers {
			servers = append(servers, start(t, "server", "--peers", strings.Join(peers, ","), "--name", peers[i], "--listen-peer", peers[i],
				"--data-dir", dirs[i], "--listen-client", clients[i]))
		}
		for _, server := range servers {
			server.await(t, "ready ")
		}
		return servers
	}
	folders := func() []string {
		dir := t.TempDir()
		return []string{filepath.Join(dir, "0"), filepath.Join(dir, "1"), filepath.Join(dir, "2")}
	}

	servers := startAll(folders())
	run(t, "snapshot", "save", file, "--endpoints", endpoints).want(t, 0)
	old := strings.TrimSpace(run(t, "lock", "a", "--endpoints", endpoints, "--", "sh", "-c", "echo $FENCELOCK_SEQUENCER").want(t, 0).stdout)
	for _, server := range servers {
		server.end(t, syscall.SIGKILL)
	}

	dirs := folders()
	var first struct{ Others string }
	text := run(t, "snapshot", "restore", file, "--data-dir", dirs[0], "-o", "json").want(t, 0).stdout
	if err := json.Unmarshal([]byte(text), &first); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs[1:] {
		words := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(first.Others, dirs[0], dir), filepath.Base(file), file))
		run(t, words[1:]...).want(t, 0)
	}
	servers = startAll(dirs)
	run(t, "check", old, "--endpoints", endpoints).want(t, 3)
	now := strings.TrimSpace(run(t, "lock", "a", "--endpoints", endpoints, "--", "sh", "-c", "echo $FENCELOCK_SEQUENCER").want(t, 0).stdout)
	if len(now) <= len(old) { // of one lock: the longer number is the higher
		t.Errorf("got %q after %q, want a higher token", now, old)
	}
	for i, server := range servers {
		if code, rest := server.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("member %d: exit code %d, %q", i, code, rest)
		}
		if _, err := os.Stat(filepath.Join(dirs[i], "origin.db")); !os.IsNotExist(err) {
			t.Errorf("member %d: origin.db is left: %v", i, err)
		}
	}
}

// Members that were restored with another floor are not one cluster.
func TestRestoreWithTwoFloorsIsRefused(t *testing.T) {
	single, client := filepath.Join(t.TempDir(), "data"), clustertest.FreeAddress(t)
	file := filepath.Join(t.TempDir(), "day.db")
	server := start(t, node(single, client, clustertest.FreeAddress(t))...)
	server.await(t, "ready ")
	run(t, "snapshot", "save", file, "--endpoints", client).want(t, 0)
	server.end(t, syscall.SIGTERM)

	peers, dir := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t)}, t.TempDir()
	var servers []*process
	for i, floor := range []string{"5000000000", "6000000000"} {
		folder := filepath.Join(dir, floor)
		run(t, "snapshot", "restore", file, "--data-dir", folder, "--floor", floor).want(t, 0)
		servers = append(servers, start(t, "server", "--peers", strings.Join(peers, ","), "--name", peers[i], "--listen-peer", peers[i],
			"--data-dir", folder, "--listen-client", clustertest.FreeAddress(t)))
	}
	for i, server := range servers {
		var lines []string
		for line := range server.lines {
			lines = append(lines, line)
		}
		if err := server.cmd.Wait(); err == nil || !strings.Contains(strings.Join(lines, "\n"), "floor") {
			t.Errorf("member %d: got %v and %q, want an error about the floor", i, err, lines)
		}
	}
}
