package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// trio is the commands of three members on one host. They differ in what tells
// members on one host apart.
type trio struct {
	commands      [3][]string
	dirs, clients [3]string
}

func newTrio(t *testing.T, args ...string) trio {
	t.Helper()
	var c trio
	peers := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
	for i, peer := range peers {
		c.dirs[i], c.clients[i] = filepath.Join(t.TempDir(), "data"), clustertest.FreeAddress(t)
		c.commands[i] = append([]string{"server", "--peers", strings.Join(peers, ","), "--name", peer,
			"--data-dir", c.dirs[i], "--listen-client", c.clients[i]}, args...)
	}
	return c
}

func (c trio) start(t *testing.T, i int) *process { return start(t, c.commands[i]...) }

func (c trio) endpoints() string { return strings.Join(c.clients[:], ",") }

// awaitFile returns when the file exists, as close behind as it can.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	deadline := time.Now().Add(testTime)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s was not made in %v", path, testTime)
		}
	}
}

// kill -9 of one member, and of all, at each point of the first start: the same
// commands finish, with one history.
func TestKilledDuringFirstStart(t *testing.T) {
	plain := []string{"lock", "origin.json", "decision.json", "member", "member/snap/db", "member/wal", "ran"}
	above := []string{"decision.json", "origin.db", "member", "ran"}
	for _, all := range []bool{false, true} {
		for _, point := range plain {
			t.Run(fmt.Sprintf("%s/all=%t", point, all), func(t *testing.T) { killAt(t, 0, point, all) })
		}
		for _, point := range above {
			t.Run(fmt.Sprintf("floor/%s/all=%t", point, all), func(t *testing.T) { killAt(t, 1_000_000, point, all) })
		}
	}
}

func killAt(t *testing.T, floor int, point string, all bool) {
	var args []string
	if floor > 0 {
		args = []string{"--token-floor", strconv.Itoa(floor)}
	}
	c := newTrio(t, args...)
	var running [3]*process
	for i := range running {
		running[i] = c.start(t, i)
	}
	awaitFile(t, filepath.Join(c.dirs[0], point))
	for i, p := range running {
		if i == 0 || all {
			p.end(t, syscall.SIGKILL)
			running[i] = c.start(t, i)
		}
	}
	for _, p := range running {
		p.await(t, "ready ")
	}
	out := run(t, "lock", "orders", "--endpoints", c.endpoints(), "--", "sh", "-c", "echo $FENCELOCK_TOKEN").want(t, 0).stdout
	if token, err := strconv.Atoi(strings.TrimSpace(out)); err != nil || token <= floor || token > floor+100 {
		t.Errorf("token %q, want one just above %d", out, floor)
	}
	for _, p := range running {
		p.end(t, syscall.SIGKILL)
	}
}

// A member that lost its folder is refused, with the reason, by the same command
// that started it.
func TestServerWiped(t *testing.T) {
	c := newTrio(t)
	var running [3]*process
	for i := range running {
		running[i] = c.start(t, i)
	}
	for _, p := range running {
		p.await(t, "ready ")
	}
	running[0].end(t, syscall.SIGKILL)
	if err := os.RemoveAll(c.dirs[0]); err != nil {
		t.Fatal(err)
	}
	run(t, c.commands[0]...).want(t, 1, "fencelock: server: ", "the cluster exists already", "fencelock member replace")
	for _, p := range running[1:] {
		p.end(t, syscall.SIGTERM)
	}
}

// Members that disagree both say so.
func TestServerPeersDisagree(t *testing.T) {
	c := newTrio(t)
	first := c.start(t, 0)
	run(t, append(c.commands[1], "--token-floor", "now")...).want(t, 1, "do not agree", `"now"`, "not given", "--token-floor")
	first.await(t, "fencelock: server: ")
	first.end(t, syscall.SIGKILL)
}
