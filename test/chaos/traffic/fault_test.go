//go:build linux

package traffic

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// A client that was stopped in its holds goes on with them, and the fences refuse it.
func TestStoppedClientIsRefused(t *testing.T) {
	s := newScene(t)
	stopped := s.start("c1.1", false).Process
	s.start("c2.1", false)
	s.await("writes of every guard", func(ops []history.Op) bool { return acknowledged(ops).everywhere(5) })
	refused := map[string]bool{} // targets
	for deadline := time.Now().Add(limit); !refused["sql"] || !refused["redis"] || !refused["file"]; {
		if time.Now().After(deadline) {
			t.Fatalf("stale operations were refused of %v only", refused)
		}
		send(t, stopped, syscall.SIGSTOP)
		since := history.Now()
		// Well after the TTL: then most locks that c1 held have had another holder. Not all:
		// it may have been stopped in the flock of a file, which then nobody else can use.
		expired := since.Add(2 * s.template.TTL)
		s.await("writes of the other client", func(ops []history.Op) bool { return len(acknowledged(after(ops, "c2.1", expired))) > 5 })
		send(t, stopped, syscall.SIGCONT)
		since = history.Now()
		s.await("a write of the one that was stopped", func(ops []history.Op) bool { return len(acknowledged(after(ops, "c1.1", since))) > 0 })
		for _, op := range s.follower.Ops() {
			if op.Outcome == history.Refused && op.Reason == history.Stale && op.Highest > op.Token {
				refused[history.Target(op.Lock)] = true
			}
		}
	}
	s.terminate()
	for _, op := range s.ops() {
		if op.Kind == history.Lost && (op.Client != "c1.1" || op.Call < op.Deadline) {
			t.Errorf("%s lost %s %v after its deadline", op.Client, op.Lock, op.Call.Sub(op.Deadline))
		}
	}
}

// A client that is asked to stand still does so when it has read and not written.
func TestClientStandsStillBeforeItsWrites(t *testing.T) {
	s := newScene(t)
	still := s.start("c1.1", false).Process
	s.start("c2.1", false)
	s.await("writes of every guard", func(ops []history.Op) bool { return acknowledged(ops).everywhere(2) })
	send(t, still, Standstill)
	s.await("the client to stop", func([]history.Op) bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", still.Pid))
		return err == nil && strings.Contains(string(stat), ") T ")
	})
	s.await("all that it has done until then", func([]history.Op) bool { return true })
	last := map[string]history.Op{} // of each lock of the control
	for _, op := range after(s.follower.Ops(), "c1.1", 0) {
		if history.Target(op.Lock) == history.Control {
			last[op.Lock] = op
		}
	}
	about := 0
	for _, op := range last {
		if (op.Kind == history.Get || op.Kind == history.List) && op.Outcome == history.OK {
			about++
		}
	}
	if about == 0 {
		t.Errorf("it stands still and is about to write nowhere: %v", last)
	}
	send(t, still, syscall.SIGCONT)
	since := history.Now()
	s.await("a write of the one that stood still", func(ops []history.Op) bool { return len(acknowledged(after(ops, "c1.1", since))) > 0 })
	s.terminate()
}

// Clients that reach neither stores nor a majority end in good order all the same.
func TestEndWithoutServers(t *testing.T) {
	s := newScene(t)
	s.start("c1.1", false)
	s.start("c2.1", false)
	s.await("writes of every guard", func(ops []history.Op) bool { return acknowledged(ops).everywhere(5) })
	s.postgres.Kill(t)
	s.redis.Kill(t)
	s.await("reads that failed", func(ops []history.Op) bool {
		failed := map[string]bool{}
		for _, op := range ops {
			if op.Kind == history.Get && op.Outcome == history.Failed {
				failed[history.Target(op.Lock)] = true
			}
		}
		return failed["sql"] && failed["redis"]
	})
	s.cluster.Kill(0)
	s.cluster.Kill(1)
	s.await("a write whose fate is unknown", func(ops []history.Op) bool {
		for _, op := range ops {
			if op.Write() && op.Outcome == history.Unknown && op.Return != history.Never {
				return true
			}
		}
		return false
	})
	s.terminate()
	checkLeaks(t, s.ops(), 2)
}

func send(t *testing.T, p *os.Process, sig os.Signal) {
	t.Helper()
	if err := p.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// after is what one client has begun since.
func after(ops []history.Op, client string, since history.Time) []history.Op {
	var own []history.Op
	for _, op := range ops {
		if op.Client == client && op.Call > since {
			own = append(own, op)
		}
	}
	return own
}
