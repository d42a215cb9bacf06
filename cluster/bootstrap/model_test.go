package bootstrap

import (
	"fmt"
	"testing"
)

// The model has three members in all states that crashes, answers of any age and
// a number of wipes can lead to. A member whose etcd has a log runs, or can at any
// time; one that does not answer is one that nobody has heard from yet.

const members = 3

// maxWipes leaves one folder of three.
const maxWipes = 2

// node is one member. Its views are what it last heard from the next member and
// the one after that.
type node struct {
	birth    uint8 // how often its folder was wiped
	decision uint8 // 0: none; else 1 + the births as digits of base 3
	log, ran bool
	lost     bool // ran, and has no log any more
	views    [members - 1]view
}

// view is an Answer, or that etcd runs under decision, or (zero) nothing.
type view struct {
	heard, runs, ran bool
	birth, decision  uint8
}

type state struct {
	nodes     [members]node
	wipes     uint8
	committed uint8 // the decision under which a majority ran
	second    bool  // a majority ran under two
}

type nextFunc func(Answer, map[string]Heard, func(Decision) string) Action

// model remembers what next said: most states ask the same.
type model struct {
	next  nextFunc
	known map[question]reply
}

type question struct {
	i    int
	node node
}

type reply struct {
	step     Step
	decision uint8
}

func memberName(i int) string { return string(rune('a' + i%members)) }

func birthName(i int, wiped uint8) string { return fmt.Sprintf("%s%d", memberName(i), wiped) }

func decode(decision uint8) *Decision {
	if decision == 0 {
		return nil
	}
	d, digits := Decision{Births: map[string]string{}}, decision-1
	for i := range members {
		d.Births[memberName(i)] = birthName(i, digits%3)
		digits /= 3
	}
	return &d
}

func encode(d Decision) uint8 {
	n := uint8(0)
	for i := members - 1; i >= 0; i-- {
		n = 3*n + d.Births[memberName(i)][1] - '0'
	}
	return n + 1
}

func clusterName(d Decision) string { return fmt.Sprint(d.Births) }

func answerOf(i int, birth, decision uint8, ran bool) Answer {
	return Answer{
		Member: memberName(i), Name: memberName(i), Birth: birthName(i, birth),
		Peers: []string{"a", "b", "c"}, Decision: decode(decision), Ran: ran,
	}
}

func (m *model) ask(i int, n node) reply {
	q := question{i, n}
	if r, ok := m.known[q]; ok {
		return r
	}
	heard := map[string]Heard{}
	for k, v := range n.views {
		j := (i + k + 1) % members
		h := Heard{}
		if v.runs {
			h.Cluster = clusterName(*decode(v.decision))
		} else if v.heard {
			a := answerOf(j, v.birth, v.decision, v.ran)
			h.Answer = &a
		}
		heard[memberName(j)] = h
	}
	action := m.next(answerOf(i, n.birth, n.decision, n.lost), heard, clusterName)
	r := reply{step: action.Step}
	if action.Step == Decide {
		r.decision = encode(*action.Decision)
	}
	m.known[q] = r
	return r
}

// successors calls visit with every state that is one step away.
func (m *model) successors(s state, visit func(state)) {
	for i, n := range s.nodes {
		edit := func(change func(*node)) {
			t := s
			change(&t.nodes[i])
			t.commit()
			visit(t)
		}
		if s.wipes < maxWipes {
			s.wipe(i, n, visit)
		}
		switch {
		case n.log:
			if !n.ran {
				edit(func(n *node) { n.ran = true })
			}
			continue
		case n.lost:
			continue // Next refuses, whatever it hears
		}
		for k, v := range n.views {
			if v.heard { // a crash forgets both
				edit(func(n *node) { n.views[k] = view{} })
			}
			edit(func(n *node) { n.views[k] = s.nodes[(i+k+1)%members].show() })
		}
		switch r := m.ask(i, n); r.step {
		case Decide:
			edit(func(n *node) { n.decision = r.decision })
		case Start:
			edit(func(n *node) { n.log, n.views = true, [members - 1]view{} })
		}
	}
}

// wipe empties a folder, or loses only etcd's data in it.
func (s state) wipe(i int, n node, visit func(state)) {
	s.wipes++
	if n.ran && !n.lost {
		half := s
		half.nodes[i].log, half.nodes[i].lost = false, true
		visit(half)
	}
	s.nodes[i] = node{birth: n.birth + 1}
	visit(s)
}

func (n node) show() view {
	return view{heard: true, runs: n.log, ran: n.lost, birth: n.birth, decision: n.decision}
}

// commit notes under which decision a majority runs. A member that the decision
// does not name has come with an empty log: what a majority with it does is another
// history, under the same name.
func (s *state) commit() {
	for i, a := range s.nodes {
		j := (i + 1) % members
		b := s.nodes[j]
		if !a.log || !b.log || a.decision != b.decision {
			continue
		}
		same := s.committed == a.decision && a.named(i) && b.named(j)
		s.second = s.second || s.committed != 0 && !same
		s.committed = a.decision
	}
}

// named reports whether the decision of member i names its folder.
func (n node) named(i int) bool {
	digits := n.decision - 1
	for range i {
		digits /= 3
	}
	return digits%3 == n.birth
}

// explore returns the number of states, and one with a second history if there is
// one.
func (m *model) explore() (states int, bad *state) {
	seen := map[state]bool{{}: true}
	queue := []state{{}}
	for len(queue) > 0 && bad == nil {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		m.successors(s, func(t state) {
			if t.second {
				bad = &t
			}
			if !seen[t] {
				seen[t] = true
				queue = append(queue, t)
			}
		})
	}
	return len(seen), bad
}

// deadEnd returns a state without wipes from which the members cannot all come to
// run.
func (m *model) deadEnd() *state {
	before := map[state][]state{}
	queue := []state{{}}
	seen := map[state]bool{{}: true}
	var good []state
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.nodes[0].log && s.nodes[1].log && s.nodes[2].log {
			good = append(good, s)
		}
		m.successors(s, func(t state) {
			if t.wipes > 0 {
				return
			}
			before[t] = append(before[t], s)
			if !seen[t] {
				seen[t] = true
				queue = append(queue, t)
			}
		})
	}
	for len(good) > 0 {
		s := good[0]
		good = good[1:]
		if seen[s] {
			delete(seen, s)
			good = append(good, before[s]...)
		}
	}
	for s := range seen {
		return &s
	}
	return nil
}

func newModel(next nextFunc) *model { return &model{next, map[question]reply{}} }

func TestNoSecondHistory(t *testing.T) {
	states, bad := newModel(Next).explore()
	t.Logf("%d states", states)
	if bad != nil {
		t.Errorf("two histories: %+v", *bad)
	}
	if states < 100_000 {
		t.Errorf("only %d states: the model does not move", states)
	}
}

func TestNoDeadEnd(t *testing.T) {
	if s := newModel(Next).deadEnd(); s != nil {
		t.Errorf("the members cannot come up from %+v", *s)
	}
}

// The model objects to protocols that are known to be wrong.
func TestModelCanFail(t *testing.T) {
	forgetful := func(self Answer, heard map[string]Heard, id func(Decision) string) Action {
		for member, h := range heard { // gives its decision up for a folder that is not in it
			if d := self.Decision; d != nil && h.Answer != nil && d.Births[member] != h.Answer.Birth {
				self.Decision = nil
			}
		}
		return Next(self, heard, id)
	}
	if _, bad := newModel(forgetful).explore(); bad == nil {
		t.Error("members that replace their decision: no second history found")
	}
	generous := func(self Answer, heard map[string]Heard, id func(Decision) string) Action {
		for _, h := range heard { // adopts what is not about its folder
			if self.Decision == nil && h.Answer != nil && h.Answer.Decision != nil {
				return Action{Step: Decide, Decision: h.Answer.Decision}
			}
		}
		return Next(self, heard, id)
	}
	if _, bad := newModel(generous).explore(); bad == nil {
		t.Error("members that adopt any decision: no second history found")
	}
	hasty := func(self Answer, heard map[string]Heard, id func(Decision) string) Action {
		if self.Decision != nil { // one round
			return Action{Step: Start}
		}
		return Next(self, heard, id)
	}
	if newModel(hasty).deadEnd() == nil {
		t.Error("members that start at once: no dead end found")
	}
}
