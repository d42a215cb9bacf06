package client

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A model of what a number may be used for: it is handed out, free or burnt.
type slotModel struct {
	out   map[string]map[int]bool
	burnt map[string]map[int]bool
	most  map[string]int // how many were out at the same time, burnt ones included
}

func TestSlotsAreReusedOnlyIfCertain(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		m := slotModel{out: map[string]map[int]bool{}, burnt: map[string]map[int]bool{}, most: map[string]int{}}
		var s slots
		burning := []float64{0, 0.02, 0.5}[round%3]
		for range 500 {
			lock := fmt.Sprint("lock", rng.IntN(3))
			if len(m.out[lock]) == 0 || rng.IntN(2) == 0 {
				m.take(t, &s, lock)
			} else {
				m.giveBack(&s, lock, rng, burning)
			}
			if t.Failed() {
				return
			}
		}
		for lock := range m.out {
			for len(m.out[lock]) > 0 {
				m.giveBack(&s, lock, rng, 0)
			}
		}
		m.checkEnd(t, &s)
	}
}

func (m *slotModel) take(t *testing.T, s *slots, lock string) {
	t.Helper()
	if m.out[lock] == nil {
		m.out[lock], m.burnt[lock] = map[int]bool{}, map[int]bool{}
	}
	n := s.take(lock)
	switch {
	case m.out[lock][n]:
		t.Errorf("%s: number %d was handed out twice", lock, n)
	case m.burnt[lock][n]:
		t.Errorf("%s: number %d was handed out although its fate is unknown", lock, n)
	}
	m.out[lock][n] = true
	m.most[lock] = max(m.most[lock], len(m.out[lock])+len(m.burnt[lock]))
	if n < 0 || n >= m.most[lock] {
		t.Errorf("%s: number %d, want less than %d: numbers that are free are used first", lock, n, m.most[lock])
	}
}

func (m *slotModel) giveBack(s *slots, lock string, rng *rand.Rand, burning float64) {
	all := slices.Sorted(maps.Keys(m.out[lock]))
	n := all[rng.IntN(len(all))]
	certain := rng.Float64() >= burning
	s.giveBack(lock, n, certain)
	delete(m.out[lock], n)
	if !certain {
		m.burnt[lock][n] = true
	}
}

// checkEnd: with nothing handed out, only locks with burnt numbers are remembered.
func (m *slotModel) checkEnd(t *testing.T, s *slots) {
	t.Helper()
	for lock := range m.out {
		_, remembered := s.locks[lock]
		if want := len(m.burnt[lock]) > 0; remembered != want {
			t.Errorf("%s: remembered: %t, want %t: it has burnt %d numbers", lock, remembered, want, len(m.burnt[lock]))
		}
	}
}
