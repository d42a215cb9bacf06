package fencingtest

import "github.com/fencelock/fencelock/fencing"

// orderCases are about what a fence is for: lower, equal and higher tokens.
func orderCases() []testCase {
	return []testCase{
		{name: "lower is refused", check: lowerIsRefused},
		{name: "equal is admitted", check: equalIsAdmitted},
		{name: "higher is adopted by any operation", check: higherIsAdopted},
		{name: "the first operation claims the fence", check: firstClaims},
		{name: "the late writer", check: lateWriter},
		{name: "the crossing", check: crossing},
		{name: "the crossing after an advance", check: crossingAfterAdvance},
	}
}

func lowerIsRefused(p *probe) {
	low := p.next()
	p.write(low, "low")
	high := p.next()
	p.write(high, "high")
	for _, kind := range p.kinds() {
		p.stale(as(low, kind, "must not be written"), high)
		p.holds(high, "high")
	}
}

func equalIsAdmitted(p *probe) {
	token := p.next()
	for _, kind := range p.kinds() {
		p.admit(as(token, kind, "x"))
		p.admit(as(token, kind, "x"))
	}
	p.write(token, "y")
	p.holds(token, "y")
	p.write(token, "z")
	p.holds(token, "z")
}

func higherIsAdopted(p *probe) {
	low := p.next()
	p.write(low, "low")
	for _, kind := range p.kinds() {
		high := p.next()
		p.admit(as(high, kind, "high"))
		p.stale(as(low, Write, "must not be written"), high)
		p.write(high, "high")
		p.holds(high, "high")
		low = high
	}
}

// firstClaims opens a resource for each kind: there is no fence before it.
func firstClaims(p *probe) {
	for _, kind := range p.kinds() {
		fresh := newProbe(p.TB, p.harness)
		low := fresh.next()
		high := fresh.next()
		fresh.admit(as(high, kind, "high"))
		fresh.stale(as(low, Write, "must not be written"), high)
		fresh.stale(as(low, Read, ""), high)
	}
}

// lateWriter is case 1: A pauses past its lease, B writes, A wakes and writes.
func lateWriter(p *probe) {
	a := p.next()
	p.write(a, "100")
	p.holds(a, "100")
	b := p.next()
	p.holds(b, "100")
	p.write(b, "120")
	p.stale(as(a, Write, "110"), b)
	p.holds(b, "120")
}

// crossing is case 2: A's write lands after B's read and before B's first write.
func crossing(p *probe) {
	p.cross(func(b fencing.Token) { p.holds(b, "100") })
}

func crossingAfterAdvance(p *probe) {
	p.cross(func(b fencing.Token) { p.admit(as(b, Advance, "")) })
}

func (p *probe) cross(first func(b fencing.Token)) {
	a := p.next()
	p.write(a, "100")
	b := p.next()
	first(b)
	p.stale(as(a, Write, "110"), b)
	p.stale(as(a, Read, ""), b)
	p.holds(b, "100")
	p.write(b, "120")
	p.holds(b, "120")
}
