package fencingtest

import (
	"math"

	"github.com/fencelock/fencelock/fencing"
)

// tokenCases are about numbers that a fence can get wrong.
func tokenCases() []testCase {
	return []testCase{
		{name: "tokens are compared as whole numbers", needs: []Capability{AnyToken}, check: numbers},
		{name: "without verification the largest token is admitted", needs: []Capability{AnyToken}, check: largest},
	}
}

// pairs are a lower and a higher token that some representation confuses.
func pairs() [][2]fencing.Token {
	return [][2]fencing.Token{
		{9, 10},                              // as text "9" is higher
		{99, 100},                            // the same, one digit on
		{15, 16},                             // as hex text of any width "f" is higher than "10"
		{1<<31 - 1, 1 << 31},                 // 32 bits with a sign
		{5, 1 << 32},                         // 32 bits
		{999_999_999_999, 1_000_000_000_000}, // printed as 1e+12 by some
		{1 << 53, 1<<53 + 1},                 // the same float64
		{1<<60 + 1, 1<<60 + 2},               // the same float64, both odd and even
		{math.MaxInt64 - 1, math.MaxInt64},   // adding one overflows
	}
}

func numbers(p *probe) {
	for _, pair := range pairs() {
		low, high := pair[0], pair[1]
		fresh := newProbe(p.TB, p.harness)
		fresh.write(low, "low")
		fresh.holds(low, "low")
		fresh.write(high, "high")
		for _, kind := range p.kinds() {
			fresh.stale(as(low, kind, "must not be written"), high)
		}
		fresh.holds(high, "high")
		fresh.write(high, "again")
		fresh.holds(high, "again")
	}
}

// largest shows why Verify is there: a number that somebody made up shuts out
// every holder to come.
func largest(p *probe) {
	p.write(10, "ten")
	p.admit(as(math.MaxInt64, Advance, ""))
	p.stale(as(11, Write, "must not be written"), math.MaxInt64)
	p.holds(math.MaxInt64, "ten")
}
