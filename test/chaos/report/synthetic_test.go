package report

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	ttl   = 2 * time.Second
	ms    = history.Time(time.Millisecond)
	start = history.Time(time.Hour)
)

// synthetic makes up a run: 5 clients, 20 locks, faults one after another. The same
// seed and length give the same run.
type synthetic struct {
	rand   *rand.Rand
	ops    []history.Op
	faults []history.Fault
	end    history.Time
	ids    map[string]int
	token  int64
}

func kindsOfFaults() []history.Fault {
	pause := history.Cost{Words: "nothing", Service: 3500 * time.Millisecond, Pauses: true}
	nothing := history.Cost{Words: "nothing", Service: 5 * time.Second}
	return []history.Fault{
		{Kind: "pause of a client", Group: "client", Victims: []string{"c3"}, Cost: pause},
		{Kind: "kill -9 of the leader", Group: "process", Victims: []string{"m2"}, Detail: "m2 led at term 7", Cost: nothing},
		{Kind: "kill -9 of a client", Group: "client", Victims: []string{"c1"}, Cost: nothing},
		{Kind: "one-way partition of a follower", Group: "network", Victims: []string{"m3"}, Cost: nothing},
		{Kind: "20 % loss", Group: "network", Cost: nothing},
		{Kind: "power cut of a member", Group: "disk", Victims: []string{"m1"}, Cost: nothing},
		{Kind: "wall clock jumps", Group: "clock", Victims: []string{"m1"}, Cost: nothing},
		{Kind: "leader moves", Group: "cluster", Victims: []string{"m3"}, Cost: nothing},
		{Kind: "a lock is broken", Group: "lock", Cost: history.Cost{Words: "nothing", Sessions: true}},
		{Kind: "kill -9 of Redis", Group: "resource", Cost: nothing},
		{Kind: "restore from a snapshot", Group: "cluster", Victims: []string{"m1", "m2", "m3"},
			Cost: history.Cost{Words: "the KV writes after the snapshot", Service: 15 * time.Second, Sessions: true, Rollback: "kv"}},
	}
}

// syntheticRun has a hold of each lock about every `every`.
func syntheticRun(seed uint64, length, every time.Duration) Run {
	s := &synthetic{rand: rand.New(rand.NewPCG(seed, 1)), end: start.Add(length), ids: map[string]int{}, token: 4000}
	s.makeFaults()
	var locks []string
	for _, t := range history.Targets() {
		for _, w := range []string{"counter", "list", "set", "bank"} {
			locks = append(locks, t+"/"+w+"/0")
		}
	}
	lines := make([]*line, len(locks))
	for i, l := range locks {
		lines[i] = &line{lock: l, at: start + history.Time(s.rand.Int64N(int64(every)))}
	}
	for {
		l := slices.MinFunc(lines, func(a, b *line) int { return cmp.Compare(a.at, b.at) })
		if l.at >= s.end {
			break
		}
		s.turn(l, every)
	}
	for _, c := range []string{"c1", "c2", "c3", "c4", "c5"} {
		s.op(history.Op{Event: history.Event{Client: s.life(c, s.end), Kind: history.Leaks, Outcome: history.OK}, Call: s.end - 2*ms, Return: s.end - ms})
	}
	slices.SortStableFunc(s.ops, func(a, b history.Op) int { return cmp.Compare(a.Call, b.Call) })
	return Run{
		Command: fmt.Sprintf("go run ./test/chaos -minutes %.0f -seed %d", length.Minutes(), seed), Seed: seed,
		Began: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC), Start: start, End: s.end, Ops: s.ops, Faults: s.faults, TTL: ttl,
		Checks: []Check{
			{Name: "nothing lost", What: "Every acknowledged update behind a fence is there at the end, in its order.", Counted: len(s.ops) / 4},
			{Name: "tokens rise", What: "Of one lock, each grant has a higher token than every grant before it.", Counted: len(s.ops) / 5},
			{Name: "refused without effect", What: "What a fence has refused is nowhere to be seen.", Counted: 211},
			{Name: "service comes back", What: "After each fault the next grant comes within what the fault states.", Counted: len(s.faults)},
			{Name: "hashes equal", What: "All members hold the same data at the end.", Counted: 3, Note: "at one revision"},
		},
		Losses: []Loss{{"control", 4200, 791, 0}, {"kv", 4100, 12, 12}, {"sql", 4180, 0, 0}, {"redis", 4190, 0, 0}, {"file", 4177, 0, 0}},
		Notes:  []string{"lying fsync was not run: strace is not installed"},
	}
}

// line is one lock in its own time.
type line struct {
	lock  string
	at    history.Time
	value string // the counter's, as it is
	stale *stale
}

// stale is a holder that stands still.
type stale struct {
	event history.Event
	until history.Time
	prev  string
}

func (s *synthetic) makeFaults() {
	kinds := kindsOfFaults()
	for at, n := start+1500*ms, 0; at < s.end-6000*ms; n++ {
		f := kinds[n%len(kinds)]
		if n >= len(kinds) && s.rand.IntN(3) == 0 {
			f = kinds[0]
			f.Victims = []string{fmt.Sprintf("c%d", 1+s.rand.IntN(5))}
		}
		if n < len(kinds) && n%4 == 3 {
			f.Victims = append(f.Victims, "m1")
		}
		f.Round = n
		f.Begin = at
		f.Healed = at + ms*history.Time(1000+s.rand.IntN(2600))
		f.End = f.Healed + ms*history.Time(s.rand.IntN(700))
		if f.Cost.Rollback != "" {
			f.Cost.Since, f.Cost.SinceEnd = at-800*ms, at-700*ms
		}
		s.faults = append(s.faults, f)
		at = f.End + ms*history.Time(s.rand.IntN(900)) - 300*ms
	}
}

// struck is the fault that the victim suffers at a time.
func (s *synthetic) struck(at history.Time, match func(history.Fault) bool) *history.Fault {
	for i := range s.faults {
		if f := &s.faults[i]; f.Begin <= at && at < f.Healed && match(*f) {
			return f
		}
	}
	return nil
}

// life is the client's current one: another after each kill.
func (s *synthetic) life(client string, at history.Time) string {
	n := 1
	for _, f := range s.faults {
		if f.Kind == "kill -9 of a client" && f.Victims[0] == client && f.Healed <= at {
			n++
		}
	}
	return fmt.Sprintf("%s.%d", client, n)
}

func (s *synthetic) op(o history.Op) history.Op {
	s.ids[o.Client]++
	o.ID = s.ids[o.Client]
	o.At = o.Call
	s.ops = append(s.ops, o)
	return o
}

// turn is one grant of the lock and what its holder does.
func (s *synthetic) turn(l *line, every time.Duration) {
	if f := s.struck(l.at, func(f history.Fault) bool { return f.Kind == "kill -9 of the leader" || f.Cost.Rollback != "" }); f != nil {
		s.op(history.Op{Event: history.Event{Client: s.life("c2", l.at), Lock: l.lock, Kind: history.Acquire, Outcome: history.Unknown}, Call: l.at, Return: f.Healed})
		l.at = f.Healed + ms*history.Time(s.rand.IntN(400))
		if f.Cost.Rollback != "" && s.token < 1_000_000*history1(f.Round) {
			s.token += 1_000_000_000
		}
		return
	}
	client := fmt.Sprintf("c%d", 1+s.rand.IntN(5))
	gone := func(f history.Fault) bool { return hits(f, client) }
	if s.struck(l.at, gone) != nil {
		l.at += 5 * ms
		return
	}
	if l.stale != nil && l.at > l.stale.until {
		s.late(l)
	}
	s.token += 1 + int64(s.rand.IntN(3))
	e := history.Event{Client: s.life(client, l.at), Lock: l.lock, Token: s.token, Kind: history.Acquire, Outcome: history.OK}
	took := history.Time(every)
	grant := s.op(history.Op{Event: e, Call: l.at - 30*ms, Return: l.at})
	e.Hold = grant.ID
	e.Kind, e.Key, e.Seen = history.Get, "n", l.value
	s.op(history.Op{Event: e, Call: l.at + took/10, Return: l.at + took/5})
	e.Seen = ""
	write := l.at + took/2
	if f := s.struck(write, gone); f != nil {
		if f.Cost.Pauses && l.stale == nil {
			l.stale = &stale{event: e, until: f.Healed, prev: l.value}
		}
		l.at += history.Time(ttl)
		return
	}
	e.Kind, e.Prev = history.Put, l.value
	e.Value = history.Name(e.Client, s.ids[e.Client]+1)
	if s.rand.IntN(400) == 0 {
		e.Outcome = history.Failed
	}
	s.op(history.Op{Event: e, Call: write, Return: write + took/10})
	if e.Outcome == history.OK {
		l.value = e.Value
	}
	e.Kind, e.Value, e.Prev, e.Key, e.Outcome = history.Release, "", "", "", history.OK
	s.op(history.Op{Event: e, Call: l.at + took*3/4, Return: l.at + took*9/10})
	l.at += took
}

// history1 bounds how often the tokens leap.
func history1(round int) int64 { return int64(1+round/11) * 1000 }

// late is what the holder does that stood still: without a fence it overwrites.
func (s *synthetic) late(l *line) {
	e := l.stale.event
	e.Kind, e.Key, e.Prev = history.Put, "n", l.stale.prev
	e.Value = history.Name(e.Client, s.ids[e.Client]+1)
	e.Outcome = history.OK
	if history.Target(l.lock) != history.Control {
		e.Outcome, e.Reason, e.Highest = history.Refused, history.Stale, s.token
	}
	at := l.stale.until + 15*ms
	s.op(history.Op{Event: e, Call: at, Return: at + 4*ms})
	if e.Outcome == history.OK {
		l.value = e.Value
	}
	s.op(history.Op{Event: history.Event{Client: e.Client, Lock: l.lock, Hold: e.Hold, Kind: history.Lost}, Call: at + 9*ms, Return: at + 9*ms})
	l.stale = nil
}
