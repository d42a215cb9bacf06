package checks

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	ms     = history.Time(time.Millisecond)
	second = 1000 * ms
)

// story makes a history up: clients take turns at locks, one after the other, each
// next one waiting already, and the locks' resources are as they must be.
type story struct {
	ops    []history.Op
	now    history.Time
	ids    map[string]int
	token  int64
	values map[string]string   // of registers, by lock and key
	lists  map[string][]string // of lists and sets, by lock
}

func newStory() *story {
	return &story{now: 100 * second, ids: map[string]int{}, token: 10, values: map[string]string{}, lists: map[string][]string{}}
}

// add writes down an operation that takes two milliseconds.
func (s *story) add(e history.Event) *history.Op {
	s.ids[e.Client]++
	e.ID = s.ids[e.Client]
	if e.Outcome == "" {
		e.Outcome = history.OK
	}
	if e.Value == "" && (e.Kind == history.Put || e.Kind == history.Add || e.Kind == history.Apply) {
		e.Value = history.Name(e.Client, e.ID)
	}
	s.now += 3 * ms
	s.ops = append(s.ops, history.Op{Event: e, Call: s.now - 2*ms, Return: s.now})
	return &s.ops[len(s.ops)-1]
}

// hold is what all operations of one hold have in common.
func (s *story) grant(client, lock string) history.Event {
	s.token += 7
	e := history.Event{Client: client, Lock: lock, Token: s.token}
	o := e
	o.Kind, o.Deadline = history.Acquire, s.now+2*second
	op := s.add(o)
	op.Call -= 6 * ms // it had waited
	e.Hold = op.ID
	return e
}

func (s *story) do(e history.Event, kind history.Kind) *history.Op {
	e.Kind = kind
	return s.add(e)
}

func (s *story) release(e history.Event) { s.do(e, history.Release) }

func (s *story) get(e history.Event, key string) *history.Op {
	e.Key, e.Seen = key, s.values[e.Lock+key]
	return s.do(e, history.Get)
}

func (s *story) put(e history.Event, key string) *history.Op {
	e.Key, e.Prev = key, s.values[e.Lock+key]
	o := s.do(e, history.Put)
	s.values[e.Lock+key] = o.Value
	return o
}

func (s *story) list(e history.Event) *history.Op {
	e.Items = slices.Clone(s.lists[e.Lock])
	return s.do(e, history.List)
}

// turn is one hold with what its workload does.
func (s *story) turn(client, lock string) {
	h := s.grant(client, lock)
	switch history.Workload(lock) {
	case "counter":
		s.get(h, "n")
		s.put(h, "n")
		s.put(h, "n")
	case "list":
		s.append(h)
	case "set":
		s.list(h)
		s.lists[lock] = append(s.lists[lock], s.do(h, history.Add).Value)
		if items := s.lists[lock]; len(items) > 4 {
			h.Value = items[0]
			s.do(h, history.Delete)
			h.Value, s.lists[lock] = "", items[1:]
		}
	case "bank":
		s.bank(h)
		h.Key, h.Prev = "last", s.values[lock]
		s.values[lock] = s.do(h, history.Apply).Value
	}
	s.release(h)
}

func (s *story) bank(h history.Event) {
	h.Seen, h.Sum = s.values[h.Lock], 500
	s.do(h, history.List)
}

func (s *story) append(h history.Event) {
	if len(s.lists[h.Lock]) == 32 {
		s.lists[h.Lock] = nil
		s.ids[h.Lock]++ // the chapter
	}
	items := s.lists[h.Lock]
	h.Key, h.Items = "list/"+strconv.Itoa(s.ids[h.Lock]), slices.Clone(items)
	if len(items) > 0 {
		h.Seen = items[len(items)-1]
	}
	s.do(h, history.Get)
	h.Prev, h.Items, h.Seen = h.Seen, nil, ""
	s.lists[h.Lock] = append(s.lists[h.Lock], s.do(h, history.Put).Value)
}

func locks() []string {
	var names []string
	for _, target := range []string{"control", "kv", "sql", "redis", "file"} {
		for _, workload := range []string{"counter", "list", "set", "bank"} {
			names = append(names, target+"/"+workload+"/0")
		}
	}
	return names
}

// right is a run in which everything is as it must be: a stale writer is refused, a
// loss is noticed, a holder dies, a member is killed.
func right() Input {
	s := newStory()
	s.turns(3)
	var faults []history.Fault
	s.overtaken("kv/counter/0")
	cut := history.Fault{Kind: "a client is cut off", Group: "network", Round: 3, Victims: []string{"c1"},
		Begin: s.now - 200*ms, Healed: s.now - ms, Cost: history.Cost{Service: 5 * time.Second, Sessions: true}}
	faults = append(faults, s.death("sql/counter/0"))
	s.turns(3)
	faults = append(faults, history.Fault{Kind: "kill -9 of the leader", Group: "process", Round: 2, Victims: []string{"m1"},
		Begin: s.now, Healed: s.now + second, Cost: history.Cost{Service: time.Second, Sessions: true}})
	s.now += second
	s.turns(2)
	faults = append(faults, cut)
	for _, client := range []string{"c1.1", "c2.1", "c3.2"} {
		s.add(history.Event{Client: client, Kind: history.Leaks})
	}
	slices.SortStableFunc(s.ops, byCall)
	members := []history.MemberFacts{{Name: "m1", Hash: 7, Revision: 90, Files: 40, Goroutines: 200}, {Name: "m2", Hash: 7, Revision: 90, Files: 41, Goroutines: 220}}
	return Input{Ops: s.ops, Faults: faults, Start: history.Facts{Members: slices.Clone(members)}, End: history.Facts{Members: members},
		TTL: 2 * time.Second, Election: time.Second}
}

func (s *story) turns(n int) {
	clients := []string{"c1.1", "c2.1", "c3.2"}
	for i := range n {
		for j, lock := range locks() {
			s.turn(clients[(i+j)%len(clients)], lock)
		}
	}
}

// overtaken is a holder that is too late with its write, and has lost its lock.
func (s *story) overtaken(lock string) {
	old := s.grant("c1.1", lock)
	s.get(old, "n")
	deadline := s.now
	s.now += 200 * ms
	young := s.grant("c2.1", lock)
	s.get(young, "n")
	lost := old
	lost.Deadline = deadline
	s.do(lost, history.Lost)
	old.Key, old.Prev, old.Outcome, old.Reason, old.Highest = "n", s.values[lock+"n"], history.Refused, history.Stale, young.Token
	s.do(old, history.Put)
	s.put(young, "n")
	s.release(young)
}

// death is a holder that is killed while another waits. Its last write was not answered.
func (s *story) death(lock string) history.Fault {
	dead := s.grant("c4.1", lock)
	last := s.get(dead, "n").Seen
	put := s.put(dead, "n")
	put.Outcome, put.Return = history.Unknown, history.Never
	s.values[lock+"n"] = last
	f := history.Fault{Kind: "kill -9 of a client", Group: "client", Round: 1, Victims: []string{"c4"}, Begin: s.now + ms,
		Healed: s.now + 3*second, Cost: history.Cost{Service: 5 * time.Second}}
	asked := s.now
	s.now += 3 * second
	h := s.grant("c1.1", lock)
	s.ops[len(s.ops)-1].Call = asked
	s.get(h, "n")
	s.put(h, "n")
	s.release(h)
	s.now += 6 * second
	return f
}

// find returns the nth operation that is of this kind, under this lock.
func find(t *testing.T, in *Input, lock string, kind history.Kind, n int) *history.Op {
	t.Helper()
	for i := range in.Ops {
		if o := &in.Ops[i]; o.Lock == lock && o.Kind == kind && o.Outcome == history.OK {
			if n--; n < 0 {
				return o
			}
		}
	}
	t.Fatalf("no such operation: %s %s", lock, kind)
	return nil
}
