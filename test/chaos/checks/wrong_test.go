package checks

import (
	"slices"
	"testing"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// change returns what changes one operation.
func change(lock string, kind history.Kind, n int, f func(*history.Op)) func(*testing.T, *Input) {
	return func(t *testing.T, in *Input) { f(find(t, in, lock, kind, n)) }
}

// vanish takes an acknowledged write out of what all others have seen of it.
func vanish(lock string, n int) func(*testing.T, *Input) {
	return func(t *testing.T, in *Input) {
		w := find(t, in, lock, history.Put, n)
		for i := range in.Ops {
			o := &in.Ops[i]
			if o.Lock == lock && o.Prev == w.Value {
				o.Prev = w.Prev
			}
			if o.Lock == lock && o.Seen == w.Value {
				o.Seen = w.Prev
			}
			o.Items = slices.DeleteFunc(slices.Clone(o.Items), func(item string) bool { return item == w.Value })
		}
	}
}

// waitsInVain adds somebody who waits while others are granted theirs.
func waitsInVain(d time.Duration, came history.Outcome) func(*testing.T, *Input) {
	return func(t *testing.T, in *Input) {
		waited := *find(t, in, "file/bank/0", history.Acquire, 1)
		waited.ID, waited.Lock, waited.Outcome, waited.Return = 10_000, "file/bank/1", came, waited.Call.Add(d)
		in.Ops = append(in.Ops, waited)
	}
}

func lastList(t *testing.T, in *Input, lock string) *history.Op {
	t.Helper()
	for i := len(in.Ops) - 1; i >= 0; i-- {
		if in.Ops[i].Lock == lock && in.Ops[i].Kind == history.List {
			return &in.Ops[i]
		}
	}
	t.Fatal("no list")
	return nil
}

func wrongRuns() []wrongRun {
	return slices.Concat(wrongData(), wrongLocks(), wrongEnds())
}

func wrongData() []wrongRun {
	const lost, fence, model, refused = "nothing acknowledged is lost or reordered", "no operation admitted below an admitted token",
		"a claimer's read shows every earlier admitted write", "refused operations had no effect"
	return []wrongRun{
		{lost, "update of a counter", vanish("kv/counter/0", 1)},
		{lost, "first write of a counter", vanish("redis/counter/0", 0)},
		{lost, "item of a list", vanish("sql/list/0", 1)},
		{lost, "items change places", change("file/list/0", history.Get, 4, func(o *history.Op) { slices.Reverse(o.Items); o.Seen = o.Items[len(o.Items)-1] })},
		{lost, "stale read", func(t *testing.T, in *Input) {
			find(t, in, "kv/bank/0", history.List, 4).Seen = find(t, in, "kv/bank/0", history.List, 2).Seen
		}},
		{lost, "value that nobody wrote", change("sql/counter/0", history.Get, 2, func(o *history.Op) { o.Seen = "c9.1-1" })},
		{lost, "value of the future", func(t *testing.T, in *Input) {
			find(t, in, "sql/bank/0", history.List, 1).Seen = find(t, in, "sql/bank/0", history.Apply, 5).Value
		}},
		{lost, "no write is ever acknowledged", func(_ *testing.T, in *Input) {
			in.Ops = slices.DeleteFunc(slices.Clone(in.Ops), func(o history.Op) bool { return history.Target(o.Lock) == "redis" && o.Data() })
			for i := range in.Ops {
				if o := &in.Ops[i]; history.Target(o.Lock) == "redis" && o.Kind == history.Release {
					o.Kind, o.Outcome, o.Value, o.Key = history.Put, history.Failed, o.Name(), "n"
				}
			}
		}},
		{lost, "sum changes", change("file/bank/0", history.List, 3, func(o *history.Op) { o.Sum++ })},
		{lost, "element of a set", func(t *testing.T, in *Input) { o := lastList(t, in, "kv/set/0"); o.Items = o.Items[1:] }},
		{lost, "deleted element comes back", func(t *testing.T, in *Input) {
			o := lastList(t, in, "sql/set/0")
			o.Items = append(slices.Clone(o.Items), find(t, in, "sql/set/0", history.Delete, 0).Value)
		}},
		{lost, "element twice", func(t *testing.T, in *Input) {
			o := lastList(t, in, "sql/set/0")
			o.Items = append(slices.Clone(o.Items), o.Items[0])
		}},
		{lost, "tokens change places", func(t *testing.T, in *Input) {
			a, b := find(t, in, "file/counter/0", history.Put, 2), find(t, in, "file/counter/0", history.Put, 4)
			a.Token, b.Token = b.Token, a.Token
		}},
		{fence, "write of an old holder", change("kv/counter/0", history.Put, 5, func(o *history.Op) { o.Token = 11 })},
		{fence, "read of an old holder", change("redis/bank/0", history.List, 5, func(o *history.Op) { o.Token = 11 })},
		{fence, "below what was only read", func(t *testing.T, in *Input) {
			for i := range in.Ops { // the overtaken holder's write
				if o := &in.Ops[i]; o.Reason == history.Stale {
					o.Outcome = history.OK
				}
			}
		}},
		{model, "stale read", func(t *testing.T, in *Input) {
			find(t, in, "kv/counter/0", history.Get, 3).Seen = find(t, in, "kv/counter/0", history.Get, 1).Seen
		}},
		{model, "update of a counter", vanish("kv/counter/0", 1)},
		{model, "item of a list", vanish("redis/list/0", 1)},
		{model, "unknown write lands late", func(t *testing.T, in *Input) {
			for i := range in.Ops {
				if o := &in.Ops[i]; o.Outcome == history.Unknown {
					find(t, in, "sql/counter/0", history.Get, 7).Seen = o.Value
				}
			}
		}},
		{refused, "read", func(t *testing.T, in *Input) { find(t, in, "kv/counter/0", history.Get, 6).Seen = staleValue(in) }},
		{refused, "replaced", func(t *testing.T, in *Input) { find(t, in, "kv/counter/0", history.Put, 10).Prev = staleValue(in) }},
		{refused, "in a list", func(t *testing.T, in *Input) {
			o := find(t, in, "file/list/0", history.Put, 1)
			o.Outcome = history.Failed
		}},
	}
}

func staleValue(in *Input) string {
	for i := range in.Ops {
		if in.Ops[i].Reason == history.Stale {
			return in.Ops[i].Value
		}
	}
	return ""
}

// oneMember is a fault at the same time that leaves the others a majority.
func oneMember(f history.Fault, member string, round int) history.Fault {
	f.Kind, f.Victims, f.Round, f.Cost.Sessions = "a follower is cut off", []string{member}, round, false
	return f
}

func wrongLocks() []wrongRun {
	const tokens, loss, dead, fifo, reason = "tokens rise in the order of the grants", "loss is noticed by the deadline",
		"a dead holder's lock is granted again in time", "first come, first served", "nobody is refused without a reason"
	const both, session, unlock = "nobody holds beside another", "nobody loses a lock without a reason", "who has unlocked did hold until then"
	late := func(d time.Duration) func(*testing.T, *Input) {
		return change("kv/counter/0", history.Lost, 0, func(o *history.Op) { o.Deadline = o.Call.Add(-d) })
	}
	return []wrongRun{
		{tokens, "falls", change("kv/counter/0", history.Acquire, 4, func(o *history.Op) { o.Token = 12 })},
		{tokens, "twice", func(t *testing.T, in *Input) {
			find(t, in, "sql/set/0", history.Acquire, 2).Token = find(t, in, "sql/set/0", history.Acquire, 1).Token
		}},
		{tokens, "none", change("sql/set/0", history.Acquire, 0, func(o *history.Op) { o.Token = 0 })},
		{loss, "late", late(600 * time.Millisecond)},
		{loss, "much too late", late(20 * time.Second)},
		{loss, "handle goes on", func(t *testing.T, in *Input) {
			for i := range in.Ops {
				if in.Ops[i].Reason == history.Stale {
					in.Ops[i].Outcome = history.OK
				}
			}
		}},
		{dead, "late", func(t *testing.T, in *Input) { in.TTL = 100 * time.Millisecond }},
		{dead, "never", func(t *testing.T, in *Input) {
			begin := in.Faults[0].Begin
			for i := range in.Ops {
				if o := &in.Ops[i]; o.Lock == "sql/counter/0" && o.Kind == history.Acquire && o.Return > begin {
					o.Outcome, o.Return = history.Unknown, history.Never
				}
			}
		}},
		{"service comes back in time", "late", func(t *testing.T, in *Input) {
			f := &in.Faults[1]
			f.Cost.Service, f.Healed = 0, f.Begin
			for i := range in.Ops {
				if o := &in.Ops[i]; o.Kind == history.Acquire && o.Call > f.Begin {
					o.Call = f.Begin - ms // it waited already
					break
				}
			}
		}},
		{"service comes back in time", "one lock is stuck", func(t *testing.T, in *Input) {
			o := find(t, in, "file/set/0", history.Acquire, 7)
			o.Call = in.Faults[1].Healed - ms
			for i := range in.Ops {
				if p := &in.Ops[i]; p.Lock == o.Lock && p.Kind == history.Acquire && p.Return > o.Call {
					p.Return = o.Call + 20*second
				}
			}
		}},
		{"service comes back in time", "never", func(t *testing.T, in *Input) {
			for i := range in.Ops {
				if o := &in.Ops[i]; o.Kind == history.Acquire && o.Call > in.Faults[1].Begin {
					o.Outcome, o.Return = history.Unknown, history.Never
				}
			}
		}},
		{both, "loss is never told", func(t *testing.T, in *Input) {
			o := find(t, in, "kv/counter/0", history.Lost, 0)
			o.Hold = 0
		}},
		{both, "gives back late", func(t *testing.T, in *Input) {
			o := find(t, in, "sql/list/0", history.Release, 2)
			o.Call, o.Return = o.Call+20*second, o.Return+20*second
		}},
		{unlock, "of a lock that was broken", func(t *testing.T, in *Input) {
			o := find(t, in, "sql/list/0", history.Release, 2)
			o.Call, o.Return = o.Call+20*second, o.Return+20*second
		}},
		{unlock, "of a shared lock that was lost", func(t *testing.T, in *Input) {
			grant, o := find(t, in, "kv/list/0", history.Acquire, 2), find(t, in, "kv/list/0", history.Release, 2)
			grant.Mode, grant.Token, o.Mode = history.Shared, 0, history.Shared
			o.Call, o.Return = o.Call+20*second, o.Return+20*second
		}},
		{unlock, "and none is known", func(_ *testing.T, in *Input) {
			in.Ops = slices.DeleteFunc(slices.Clone(in.Ops), func(o history.Op) bool { return o.Kind == history.Release })
		}},
		{session, "no fault", func(t *testing.T, in *Input) { in.Faults = in.Faults[:2] }},
		{session, "one of three members is cut off", func(_ *testing.T, in *Input) {
			in.Faults = append(in.Faults[:2], oneMember(in.Faults[2], "m1", 3), oneMember(in.Faults[2], "m2", 4))
		}},
		{session, "another client's fault", func(t *testing.T, in *Input) { in.Faults[2].Victims = []string{"c2"} }},
		{session, "no member answers", func(t *testing.T, in *Input) {
			in.Faults = in.Faults[:2]
			find(t, in, "kv/counter/0", history.Lost, 0).Reason = "lock lost: " + silence + " the session's deadline"
			for i := range in.Ops { // of 80 grants
				if o := &in.Ops[i]; o.Kind == history.Acquire && o.Lock != "kv/counter/0" && o.Call > 101*second {
					o.Outcome = history.Failed
				}
			}
		}},
		{"no lock is stuck", "for half a minute", waitsInVain(30*time.Second, history.Failed)},
		{"no lock is stuck", "until somebody has come to an end", waitsInVain(16*time.Second, history.OK)},
		{fifo, "told late", func(t *testing.T, in *Input) {
			a, b := find(t, in, "redis/counter/0", history.Acquire, 1), find(t, in, "redis/counter/0", history.Acquire, 2)
			a.Return = b.Return + ms
		}},
		{fifo, "overtakes", func(t *testing.T, in *Input) {
			a, b := find(t, in, "redis/list/0", history.Acquire, 5), find(t, in, "redis/list/0", history.Acquire, 6)
			a.Token, b.Token = b.Token, a.Token
		}},
		{reason, "not held", change("redis/counter/0", history.Get, 1, func(o *history.Op) { o.Outcome, o.Reason = history.Refused, history.NotHeld })},
		{reason, "shared, by who came later", change("redis/counter/0", history.Get, 1, func(o *history.Op) {
			o.Token, o.Mode, o.Outcome, o.Reason, o.Highest = 0, history.Shared, history.Refused, history.Stale, 1<<40
		})},
		{reason, "stale, but nobody is higher", change("file/counter/0", history.Put, 15, func(o *history.Op) {
			o.Outcome, o.Reason, o.Highest = history.Refused, history.Stale, 1<<40
		})},
	}
}

func wrongEnds() []wrongRun {
	const agree, left = "members agree", "nothing is left over"
	return []wrongRun{
		{agree, "hash", func(_ *testing.T, in *Input) { in.End.Members[1].Hash++ }},
		{agree, "revision", func(_ *testing.T, in *Input) { in.End.Members[1].Revision++ }},
		{agree, "no member", func(_ *testing.T, in *Input) { in.End.Members = nil }},
		{left, "claim", func(_ *testing.T, in *Input) { in.End.Claims = []string{"fencelock/lock/a/@/1-1"} }},
		{left, "lease", func(_ *testing.T, in *Input) { in.End.Leases = 1 }},
		{left, "files of a member", func(_ *testing.T, in *Input) { in.End.Members[0].Files += 16 }},
		{left, "goroutines of a member", func(_ *testing.T, in *Input) { in.End.Members[1].Goroutines += 41 }},
		{left, "goroutine of a client", func(t *testing.T, in *Input) { find(t, in, "", history.Leaks, 1).Goroutines = 1 }},
		{left, "files of a client", func(t *testing.T, in *Input) { find(t, in, "", history.Leaks, 0).Files = 5 }},
	}
}
