package fencingtest

import "github.com/fencelock/fencelock/fencing"

// memoryCases are about where a fence is kept, and for how long.
func memoryCases() []testCase {
	return []testCase{
		{name: "two guards do not disturb each other", check: twoGuards},
		{name: "one fence covers all keys of a guard", needs: []Capability{ManyKeys}, check: manyKeys},
		{name: "a delete keeps the fence", needs: []Capability{Deletes}, check: deleteKeeps},
		{name: "a restart keeps the fence", needs: []Capability{Restarts}, check: restartKeeps},
		{name: "a restart keeps the fence of what was deleted", needs: []Capability{Restarts, Deletes}, check: restartKeepsDeleted},
		{name: "a restart keeps the fence that a read raised", needs: []Capability{Restarts}, check: restartKeepsRead},
	}
}

func twoGuards(p *probe) {
	elsewhere := func(token fencing.Token, kind Kind, value string) Op {
		return Op{Kind: kind, Guard: otherGuard, Key: otherKey, Value: value, Sequencer: fencing.Sequencer{Lock: otherGuard, Token: token}}
	}
	b := p.nextOf(otherGuard)
	p.admit(elsewhere(b, Write, "there"))
	a := p.next()
	p.write(a, "here")
	newer := p.next()
	p.write(newer, "newer")
	for _, kind := range []Kind{Advance, Write, Read} {
		p.admit(elsewhere(b, kind, "there"))
	}
	p.stale(as(a, Write, "must not be written"), newer)
	if got, want := p.admit(elsewhere(b, Read, "")), "there"; got != want {
		p.Errorf("behind %s: got %q, want %q", otherGuard, got, want)
	}
	c := p.nextOf(otherGuard)
	p.admit(elsewhere(c, Read, ""))
	p.stale(elsewhere(b, Read, ""), c)
	p.holds(newer, "newer")
}

func manyKeys(p *probe) {
	a := p.next()
	p.write(a, "here")
	there := as(a, Write, "there")
	there.Key = otherKey
	p.admit(there)
	b := p.next()
	p.holds(b, "here")
	p.stale(there, b)
	there.Kind = Read
	p.stale(there, b)
	there.Sequencer.Token = b
	if got, want := p.admit(there), "there"; got != want {
		p.Errorf("%s: got %q, want %q", otherKey, got, want)
	}
}

func deleteKeeps(p *probe) {
	low := p.next()
	p.write(low, "low")
	high := p.next()
	p.write(high, "high")
	p.admit(as(high, Delete, ""))
	for _, kind := range p.kinds() {
		p.stale(as(low, kind, "must not be written"), high)
	}
	p.holds(high, "")
	p.admit(as(high, Delete, ""))
	p.stale(as(low, Write, "must not be written"), high)
}

func restartKeeps(p *probe) { p.restart("high", func(high fencing.Token) { p.write(high, "high") }) }

func restartKeepsDeleted(p *probe) {
	p.restart("", func(high fencing.Token) {
		p.write(high, "high")
		p.admit(as(high, Delete, ""))
	})
}

func restartKeepsRead(p *probe) { p.restart("low", func(high fencing.Token) { p.holds(high, "low") }) }

// restart opens the resource again after last, and wants the fence where it was,
// and value under the key.
func (p *probe) restart(value string, last func(high fencing.Token)) {
	p.Helper()
	low := p.next()
	p.write(low, "low")
	high := p.next()
	last(high)
	p.resource = p.harness.Reopen(p, p.resource)
	for _, kind := range p.kinds() {
		p.stale(as(low, kind, "must not be written"), high)
	}
	p.holds(high, value)
	p.write(high, "again")
	p.holds(high, "again")
}
