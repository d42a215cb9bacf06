//go:build linux

package main

import (
	"fmt"
	"testing"

	"github.com/fencelock/fencelock/test/chaos/faults"
)

// Every kind comes alone before any comes alone twice, and leads a pair before any
// leads two; nothing that takes the same part is paired; and a seed repeats it all.
func TestNemesis(t *testing.T) {
	kinds := []faults.Kind{{Name: "a", Takes: []string{"members"}}, {Name: "b", Takes: []string{"members", "network"}},
		{Name: "c", Takes: []string{"clients"}}, {Name: "d"}, {Name: "e", Takes: []string{"network"}}}
	n := newNemesis(7, kinds, 2)
	var order []string
	for cycle := range 3 {
		alone, leads := map[string]int{}, map[string]int{}
		for range kinds {
			one, two := n.round(), n.round()
			if len(one) != 1 || len(two) != 2 || collide(two[0], two[1]) {
				t.Fatalf("cycle %d: got %v, then %v; want one, then two that may meet", cycle, names(one), names(two))
			}
			alone[one[0].Name]++
			leads[two[0].Name]++
			order = append(order, fmt.Sprint(names(one), names(two)))
		}
		if len(alone) != len(kinds) || len(leads) != len(kinds) {
			t.Errorf("cycle %d: alone %v, first of two %v, want each kind once", cycle, alone, leads)
		}
	}
	again := newNemesis(7, kinds, 2)
	for i := range order {
		if got := fmt.Sprint(names(again.round()), names(again.round())); got != order[i] {
			t.Fatalf("with the same seed, round %d: got %s, want %s", i, got, order[i])
		}
	}
}

// One at a time is one at a time, and who takes everything gets no partner.
func TestNemesisAlone(t *testing.T) {
	one := newNemesis(1, []faults.Kind{{Name: "a"}, {Name: "b"}}, 1)
	all := newNemesis(1, []faults.Kind{{Name: "a", Takes: []string{"members"}}, {Name: "b", Takes: []string{"members"}}}, 2)
	for range 10 {
		if got := names(one.round()); len(got) != 1 {
			t.Errorf("with at most one at a time: got %v", got)
		}
		if got := names(all.round()); len(got) != 1 {
			t.Errorf("with two that take the same: got %v", got)
		}
	}
}

func names(kinds []faults.Kind) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// The pause that the control loses by comes with every second pair that it may be in;
// every kind leads its pairs all the same.
func TestNemesisAimsPauses(t *testing.T) {
	pause := faults.Kind{Name: faults.BetweenReadAndWrite, Takes: []string{"clients"}}
	kinds := []faults.Kind{pause, {Name: "a", Takes: []string{"members"}}, {Name: "b", Takes: []string{"network"}}, {Name: "c", Takes: []string{"clients"}}}
	n := newNemesis(7, kinds, 2)
	leads, with := map[string]int{}, 0
	for range 10 * len(kinds) {
		n.round()
		pair := n.round()
		leads[pair[0].Name]++
		if pair[1].Name == pause.Name {
			with++
		}
	}
	for _, k := range kinds {
		if leads[k.Name] != 10 {
			t.Errorf("%q leads %d pairs, want 10 of 40", k.Name, leads[k.Name])
		}
	}
	if with < 10 { // half of the 20 that are led by a or b, and some of the others by chance
		t.Errorf("%d pairs have the pause for a partner, want 10 at least", with)
	}
}
