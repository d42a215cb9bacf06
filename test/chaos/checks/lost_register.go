package checks

import (
	"cmp"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// register is the operations on one of a lock's registers or lists.
type register struct {
	key  string
	list bool
	ops  []*op // acknowledged reads and effective writes, in the order of their calls
}

// registers sorts a lock's operations by register. A bank is one: "last".
func registers(l *lock) []*register {
	var all []*register
	byKey := map[string]*register{}
	for _, o := range l.data {
		if !o.Effective() && !acknowledged(o) {
			continue
		}
		key := o.Key
		if l.workload == "bank" {
			key = "last"
		}
		reg := byKey[key]
		if reg == nil {
			reg = &register{key: key}
			byKey[key] = reg
			all = append(all, reg)
		}
		reg.list = reg.list || o.Kind == history.Get && len(o.Items) > 0
		reg.ops = append(reg.ops, o)
	}
	return all
}

// seen is the identity that a read shows: of a list, the last.
func seen(o *op) string {
	if len(o.Items) > 0 {
		return o.Items[len(o.Items)-1]
	}
	return o.Seen
}

// last is the operation that the chain is walked back from: the last read, or, if
// something was written after it, the last acknowledged write.
func (reg *register) last() *op {
	var read, write *op
	for _, o := range reg.ops {
		switch {
		case !acknowledged(o):
		case !o.Write():
			read = o
		case write == nil || byToken(write, o) < 0:
			write = o
		}
	}
	if read == nil || write != nil && write.Call > read.Return {
		return write
	}
	return read
}

// chain is the writes that the last state is made of, the first first.
type chain struct {
	end    *op
	writes []*op
	place  map[string]int // of an identity in writes, from 1; 0: the state before all
	values map[string]*op // every effective write, in the chain or not
}

// walk goes back from the end: each write names the identity that it has replaced.
func (g *ledger) walk(reg *register) *chain {
	c := &chain{end: reg.last(), place: map[string]int{}, values: map[string]*op{}}
	for _, o := range reg.ops {
		if o.Write() && (c.values[o.Value] == nil || acknowledged(o)) {
			c.values[o.Value] = o
		}
	}
	if c.end == nil {
		return c
	}
	value := seen(c.end)
	if c.end.Write() {
		value = c.end.Value
	}
	for value != "" {
		w := c.values[value]
		if w == nil || c.place[value] != 0 {
			g.wrong(c.end, "leads back to %s, which no effective write of %s has left, or twice", value, reg.key)
			break
		}
		c.place[value] = -1
		c.writes = append(c.writes, w)
		value = w.Prev
	}
	slices.Reverse(c.writes)
	for i, w := range c.writes {
		c.place[w.Value] = i + 1
	}
	return c
}

func (g *ledger) register(reg *register) {
	c := g.walk(reg)
	for _, o := range reg.ops {
		if !o.Write() || !acknowledged(o) {
			continue
		}
		g.Counted++
		g.Acknowledged++
		if c.place[o.Value] == 0 && o.Return < c.end.Call {
			g.lose(o, "was acknowledged and is lost: %s of %s, over %q", o.Value, reg.key, o.Prev)
		}
	}
	if g.fenced {
		g.order(c)
		g.reads(reg, c)
	}
}

// order looks whether the chain's writes stand in the order of their tokens, and of time.
func (g *ledger) order(c *chain) {
	earliest := history.Never
	for i := len(c.writes) - 1; i >= 0; i-- {
		w := c.writes[i]
		if i > 0 && c.writes[i-1].Token > w.Token {
			g.wrong(w, "with token %d stands behind %s with token %d", w.Token, c.writes[i-1].Name(), c.writes[i-1].Token)
		}
		if earliest < w.Call {
			g.wrong(w, "stands before a write that was acknowledged before it was asked for")
		}
		if acknowledged(w) {
			earliest = min(earliest, w.Return)
		}
	}
}

// reads looks whether each read shows at least what was acknowledged, or read, before it.
func (g *ledger) reads(reg *register, c *chain) {
	done := only(reg.ops, acknowledged)
	asked := only(done, func(o *op) bool { return !o.Write() })
	slices.SortFunc(done, byReturn)
	slices.SortFunc(asked, func(a, b *op) int { return cmp.Compare(a.Call, b.Call) })
	shown, next := 0, 0
	for _, o := range asked {
		for ; next < len(done) && done[next].Return < o.Call; next++ {
			value := done[next].Value
			if !done[next].Write() {
				value = seen(done[next])
			}
			shown = max(shown, c.place[value])
		}
		g.Counted++
		g.read(reg, c, o, shown)
	}
}

func (g *ledger) read(reg *register, c *chain, o *op, shown int) {
	value := seen(o)
	w, at := c.values[value], c.place[value]
	switch {
	case value != "" && w == nil:
		g.wrong(o, "has read %s, which no effective write of %s has left", value, reg.key)
	case w != nil && w.Call > o.Return:
		g.wrong(o, "has read %s before it was written", value)
	case w != nil && at == 0:
		if !acknowledged(w) && w.Call < c.end.Call && !stated(g.rollbacks, w) {
			g.wrong(o, "has read %s, of unknown outcome, which is gone", value)
		}
	case at < shown:
		g.wrong(o, "has read %q of %s, and %s was acknowledged or read before", value, reg.key, c.writes[shown-1].Value)
	case reg.list && !c.shows(o.Items, at):
		g.wrong(o, "has read %d items that are not the first %d of %s", len(o.Items), at, reg.key)
	}
}

// shows reports whether items are the chain's first at ones.
func (c *chain) shows(items []string, at int) bool {
	if len(items) != at {
		return false
	}
	for i, item := range items {
		if c.writes[i].Value != item {
			return false
		}
	}
	return true
}
