package checks

import (
	"testing"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// goesBack adds a fault that lets a target lose what was written since a write, which
// is the nth of the lock.
func goesBack(target, lock string, n int) func(*testing.T, *Input) {
	return func(t *testing.T, in *Input) {
		vanish(lock, n)(t, in)
		w := find(t, in, lock, history.Put, n)
		in.Faults = append(in.Faults, history.Fault{Kind: "restore", Group: "cluster", Round: 8, Begin: w.Return + ms/2, Healed: w.Return + ms,
			Cost: history.Cost{Rollback: target, Since: w.Call - ms, SinceEnd: w.Call - ms}})
	}
}

func excusedRuns() []wrongRun {
	const lost, model, loss, fifo, reason = "nothing acknowledged is lost or reordered", "a claimer's read shows every earlier admitted write",
		"loss is noticed by the deadline", "first come, first served", "nobody is refused without a reason"
	const session = "nobody loses a lock without a reason"
	late := func(t *testing.T, in *Input) *history.Op {
		o := find(t, in, "kv/counter/0", history.Lost, 0)
		o.Deadline = o.Call.Add(-time.Second)
		return o
	}
	return []wrongRun{
		{lost, "control loses", vanish("control/counter/0", 1)},
		{lost, "as stated", goesBack("kv", "kv/counter/0", 5)},
		{model, "as stated", goesBack("kv", "kv/counter/0", 5)},
		{loss, "stood still", func(t *testing.T, in *Input) {
			o := late(t, in)
			stop(in, o.Deadline-second, o.Call-100*ms, "c1")
		}},
		{loss, "starved", func(t *testing.T, in *Input) {
			o := late(t, in)
			in.Faults = append(in.Faults, history.Fault{Kind: "no processor", Group: "cpu", Round: 8, Begin: o.Deadline, Healed: o.Call})
		}},
		{fifo, "stood still", func(t *testing.T, in *Input) {
			a, b := find(t, in, "redis/counter/0", history.Acquire, 1), find(t, in, "redis/counter/0", history.Acquire, 2)
			a.Return = b.Return + ms
			stop(in, a.Call, a.Return, a.Client[:2])
		}},
		{session, "two of three members are cut off", func(_ *testing.T, in *Input) {
			in.Faults = append(in.Faults[:2], oneMember(in.Faults[2], "m1", 3), oneMember(in.Faults[2], "m2", 3))
		}},
		{reason, "broken", func(t *testing.T, in *Input) {
			o := find(t, in, "redis/counter/0", history.Get, 1)
			o.Outcome, o.Reason = history.Refused, history.NotHeld
			in.Faults = append(in.Faults, history.Fault{Kind: "break", Group: "lock", Round: 8, Begin: o.Call - ms, Healed: o.Call, Victims: []string{o.Lock},
				Cost: history.Cost{Sessions: true}})
		}},
	}
}

func TestLosses(t *testing.T) {
	in := right()
	vanish("control/counter/0", 1)(t, &in)
	vanish("control/list/0", 1)(t, &in)
	goesBack("kv", "kv/counter/0", 5)(t, &in)
	for _, l := range Losses(in) {
		want := map[string][2]int{"control": {2, 0}, "kv": {0, 1}}[l.Target]
		if got := [2]int{l.Lost, l.Stated}; got != want {
			t.Errorf("%s: %d lost and %d lost as stated, want %v", l.Target, l.Lost, l.Stated, want)
		}
	}
}

// A fault that lets one target go back excuses nothing of another.
func TestRollbackExcusesItsTargetOnly(t *testing.T) {
	in := right()
	goesBack("redis", "sql/counter/0", 5)(t, &in)
	if Run(in)[0].OK() {
		t.Error("no objection to a loss in sql after redis went back")
	}
}

// After a restore of the cluster no token from before is admitted.
func TestOldTokenAfterRestore(t *testing.T) {
	in := right()
	o := find(t, &in, "kv/bank/0", history.List, 5)
	var before history.Time
	for i := range in.Ops {
		if p := &in.Ops[i]; p.Lock == o.Lock && p.Kind == history.Acquire && p.Token == o.Token {
			before = p.Return
		}
	}
	in.Faults = append(in.Faults, history.Fault{Kind: "restore", Group: "cluster", Round: 8, Begin: before + ms/4, Healed: before + ms/2,
		Cost: history.Cost{Rollback: "kv", Since: before}})
	for _, r := range Run(in) {
		if r.Name == "no operation admitted below an admitted token" && r.OK() {
			t.Error("no objection to a token from before the restore")
		}
	}
}
