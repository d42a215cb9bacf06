//go:build linux

package traffic

import (
	"testing"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// Two clients and no fault: everything is acknowledged, and a third client finds it.
func TestTraffic(t *testing.T) {
	s := newScene(t)
	s.start("c1.1", false)
	s.start("c2.1", false)
	const want = 30 // acknowledged writes of each guard
	s.await("writes of every guard, in every mode", func(ops []history.Op) bool {
		return acknowledged(ops).everywhere(want) && len(modes(ops)) == 4
	})
	s.terminate()
	if err := s.start("final", true).Wait(); err != nil {
		t.Fatalf("the last client: %v", err)
	}
	ops := s.ops()
	checkOutcomes(t, ops)
	checkFinal(t, ops)
	checkLeaks(t, ops, 3)
}

// counts are acknowledged writes of each guard.
type counts map[string]int

func acknowledged(ops []history.Op) counts {
	n := counts{}
	for _, op := range ops {
		if op.Write() && op.Outcome == history.OK {
			n[op.Lock]++
		}
	}
	return n
}

func (n counts) everywhere(want int) bool {
	for _, target := range history.Targets() {
		for _, workload := range history.Workloads() {
			if n[lockName(target, workload)] < want {
				return false
			}
		}
	}
	return true
}

// checkOutcomes: without faults each operation that reaches the data is done, and
// holds are never lost.
func checkOutcomes(t *testing.T, ops []history.Op) {
	t.Helper()
	for _, op := range ops {
		switch {
		case op.Data() && op.Outcome != history.OK, op.Kind == history.Release && op.Outcome != history.OK, op.Kind == history.Lost:
			t.Errorf("%s of %s under %q: got %s, %s", op.Name(), op.Lock, op.Mode, op.Outcome, op.Reason)
		case op.Kind == history.Acquire && op.Outcome == history.OK && op.Deadline.Sub(op.Call) <= 0:
			t.Errorf("%s of %s: granted until %d, called at %d", op.Name(), op.Lock, op.Deadline, op.Call)
		}
	}
}

// checkLeaks: each process has said that nothing is left over.
func checkLeaks(t *testing.T, ops []history.Op, processes int) {
	t.Helper()
	said := 0
	for _, op := range ops {
		if op.Kind != history.Leaks {
			continue
		}
		said++
		if op.Goroutines != 0 || op.Files != 0 {
			t.Errorf("%s leaves %d goroutines and %d files: %s", op.Client, op.Goroutines, op.Files, op.Reason)
		}
	}
	if said != processes {
		t.Errorf("%d processes have said what is left over, want %d", said, processes)
	}
}

// checkFinal compares what the last client has read with what was acknowledged.
func checkFinal(t *testing.T, ops []history.Op) {
	t.Helper()
	n, found := acknowledged(ops), counts{}
	last := map[string]string{} // written identity of each register
	for _, op := range ops {
		if op.Outcome != history.OK || !op.Data() {
			continue
		}
		if op.Write() {
			last[op.Lock+" "+op.Key] = op.Value
			continue
		}
		if op.Client != "final" {
			continue
		}
		switch workload := history.Workload(op.Lock); {
		case workload == "counter":
			found[op.Lock] = int(op.Sum)
		case workload == "list" && op.Key == "chapter":
			found[op.Lock] += int(op.Sum) // a write for each chapter, and one for each item
			if inDocument(op.Lock) {
				found[op.Lock] += maxItems * max(0, int(op.Sum)-keptLists) // which are not there any more
			}
		case workload == "list":
			found[op.Lock] += len(op.Items)
		case workload == "bank" && (op.Sum != accounts*firstBalance || op.Seen != last[op.Lock+" "+lastKey]):
			t.Errorf("%s: the sum is %d, the last transfer %s; want %d, %s",
				op.Lock, op.Sum, op.Seen, accounts*firstBalance, last[op.Lock+" "+lastKey])
		}
	}
	for lock, got := range found {
		if want := n[lock]; got != want {
			t.Errorf("%s: the last client finds %d acknowledged writes, want %d", lock, got, want)
		}
	}
	if len(found) != 2*len(history.Targets()) {
		t.Errorf("the last client has read %v, want two workloads of each target", found)
	}
}

// modes are the ways in which locks were taken for operations on data.
func modes(ops []history.Op) map[string]bool {
	seen := map[string]bool{}
	for _, op := range ops {
		if op.Data() {
			seen[op.Mode] = true
		}
	}
	return seen
}
