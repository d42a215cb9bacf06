//go:build linux

package main

import (
	"math/rand/v2"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/faults"
)

// nemesis decides what happens next. Every kind comes once alone before any comes
// twice, and once as the first of two; the seed decides the order, and the partner. Every
// second partner is faults.BetweenReadAndWrite, where it may be: without a fence such
// a pause is what loses writes, and among all other kinds it would come too seldom to show.
type nemesis struct {
	rand     *rand.Rand
	kinds    []faults.Kind
	together int // 1: never two at a time

	alone, first []faults.Kind // what is left of the two decks
	pair         bool          // the next round is one of two
	pairs        int           // rounds of two so far
}

func newNemesis(seed uint64, kinds []faults.Kind, together int) *nemesis {
	return &nemesis{rand: rand.New(rand.NewPCG(seed, 1)), kinds: kinds, together: together}
}

// round is one kind, or two that do not take the same.
func (n *nemesis) round() []faults.Kind {
	if !n.pair || n.together < 2 {
		n.pair = true
		return []faults.Kind{n.draw(&n.alone)}
	}
	n.pair = false
	one := n.draw(&n.first)
	others := slices.DeleteFunc(n.shuffled(), func(k faults.Kind) bool { return collide(one, k) })
	if len(others) == 0 {
		return []faults.Kind{one}
	}
	n.pairs++
	often := slices.IndexFunc(others, func(k faults.Kind) bool { return k.Name == faults.BetweenReadAndWrite })
	if n.pairs%2 == 1 && often >= 0 {
		return []faults.Kind{one, others[often]}
	}
	return []faults.Kind{one, others[0]}
}

// draw takes the next kind from a deck, and mixes a new one when it is empty.
func (n *nemesis) draw(deck *[]faults.Kind) faults.Kind {
	if len(*deck) == 0 {
		*deck = n.shuffled()
	}
	kind := (*deck)[0]
	*deck = (*deck)[1:]
	return kind
}

func (n *nemesis) shuffled() []faults.Kind {
	kinds := slices.Clone(n.kinds)
	n.rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	return kinds
}

func collide(a, b faults.Kind) bool {
	return a.Name == b.Name || slices.ContainsFunc(a.Takes, func(part string) bool { return slices.Contains(b.Takes, part) })
}
