package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// scene is a run as the pictures need it.
type scene struct {
	Run
	targets []string
	clients []string // "c1", "c2"
	members []string // those that were a fault's victim
	lives   []life
	holds   []hold       // in the order in which they began
	slowest history.Time // the longest of all operations took
}

// life is what one client process did from its first to its last line.
type life struct {
	name, client string // "c3.1", "c3"
	from, to     history.Time
	ended        bool // in good order
}

// hold is one grant, from when its client knew of it until it gave it back, was
// told that it no longer holds, or fell silent.
type hold struct {
	lock, target, client, life string
	id                         int
	mode                       string
	token                      int64
	from, to                   history.Time
	end                        history.Kind // Release, Lost; "": its client fell silent
}

func newScene(r Run) *scene {
	s := &scene{Run: r}
	s.lives = livesOf(r)
	s.holds = s.holdsOf()
	for i := range r.Ops {
		s.slowest = max(s.slowest, known(&r.Ops[i])-r.Ops[i].Call)
	}
	seen := map[string]bool{}
	for i := range r.Ops {
		if t := history.Target(r.Ops[i].Lock); t != "" && !seen[t] {
			seen[t] = true
			s.targets = append(s.targets, t)
		}
	}
	slices.SortFunc(s.targets, byTarget)
	for _, l := range s.lives {
		if !slices.Contains(s.clients, l.client) {
			s.clients = append(s.clients, l.client)
		}
	}
	slices.SortFunc(s.clients, byNumber)
	for _, f := range r.Faults {
		for _, v := range f.Victims {
			if isMember(v) && !slices.Contains(s.members, v) {
				s.members = append(s.members, v)
			}
		}
	}
	slices.SortFunc(s.members, byNumber)
	return s
}

// byNumber puts c2 before c10.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func isMember(victim string) bool {
	return len(victim) > 1 && victim[0] == 'm' && strings.Trim(victim[1:], "0123456789") == ""
}

// clientOf is the client of a life: "c3" of "c3.1".
func clientOf(life string) string {
	client, _, _ := strings.Cut(life, ".")
	return client
}

func livesOf(r Run) []life {
	at := map[string]int{}
	var lives []life
	for i := range r.Ops {
		o := &r.Ops[i]
		n, ok := at[o.Client]
		if !ok {
			n = len(lives)
			at[o.Client] = n
			lives = append(lives, life{name: o.Client, client: clientOf(o.Client), from: o.Call, to: o.Call})
		}
		l := &lives[n]
		l.to = max(l.to, o.Call)
		if o.Return != history.Never {
			l.to = max(l.to, o.Return)
		}
		l.ended = l.ended || o.Kind == history.Leaks
	}
	return lives
}

type claim struct {
	life string
	id   int
}

func (s *scene) holdsOf() []hold {
	last := map[string]history.Time{}
	for _, l := range s.lives {
		last[l.name] = l.to
	}
	var holds []hold
	at := map[claim]int{}
	for i := range s.Ops {
		o := &s.Ops[i]
		switch {
		case o.Kind == history.Acquire && o.Outcome == history.OK:
			at[claim{o.Client, o.ID}] = len(holds)
			holds = append(holds, hold{
				lock: o.Lock, target: history.Target(o.Lock), client: clientOf(o.Client), life: o.Client, id: o.ID,
				mode: o.Mode, token: o.Token, from: o.Return, to: max(last[o.Client], o.Return),
			})
		case o.Kind == history.Release || o.Kind == history.Lost:
			if n, ok := at[claim{o.Client, o.Hold}]; ok && holds[n].end == "" {
				holds[n].to, holds[n].end = max(o.Call, holds[n].from), o.Kind
			}
		}
	}
	slices.SortStableFunc(holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	return holds
}

// known is when an operation's outcome was known; of one that never was, its call.
func known(o *history.Op) history.Time {
	if o.Return == history.Never || o.Kind == history.Lost {
		return o.Call
	}
	return o.Return
}

// hits reports whether the fault has the victim, or all of its kind.
func hits(f history.Fault, victim string) bool {
	for _, v := range f.Victims {
		if v == victim || clientOf(v) == victim {
			return true
		}
	}
	return false
}

// near is the operations that may have been known between two moments, and some more:
// a long run has too many to go through all of them for every picture.
func (s *scene) near(from, to history.Time) []history.Op {
	byCall := func(o history.Op, at history.Time) int { return cmp.Compare(o.Call, at) }
	first, _ := slices.BinarySearchFunc(s.Ops, from-s.slowest, byCall)
	last, _ := slices.BinarySearchFunc(s.Ops, to+1, byCall)
	return s.Ops[first:max(first, last)]
}
