package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// simulate lets holders with rising tokens read and write one fenced register, with
// every write's outcome unknown now and then, and some landing after their holder
// was overtaken, where the fence keeps them out.
func simulate(r *rand.Rand, holds int) []Op {
	type late struct {
		token int64
		value string
	}
	var ops []Op
	var fence, now int64
	var pending []late
	value := ""
	tick := func() int64 { now += 1 + r.Int64N(3); return now }
	land := func() {
		for i := 0; i < len(pending); i++ {
			if r.IntN(3) == 0 {
				if pending[i].token >= fence {
					value = pending[i].value
				}
				pending = append(pending[:i], pending[i+1:]...)
				i--
			}
		}
	}
	for token := int64(2); token < int64(holds); token++ {
		fence = max(fence, token)
		ops = append(ops, read(token, tick(), tick(), value))
		for n := range 1 + r.IntN(4) {
			land()
			identity := fmt.Sprintf("%d-%d", token, n)
			op := write(token, tick(), tick(), identity)
			switch r.IntN(10) {
			case 0:
				op.Return, op.Outcome = Never, Unknown
				pending = append(pending, late{token, identity})
			case 1: // an older holder comes back
				op.Token, op.Outcome = token-1, Stale
			default:
				value = identity
			}
			ops = append(ops, op)
		}
		land()
		ops = append(ops, read(token, tick(), tick(), value))
	}
	return ops
}

func TestRandomHistoriesPass(t *testing.T) {
	for seed := range uint64(60) {
		ops := simulate(rand.New(rand.NewPCG(seed, 1)), 40)
		if got := Register(ops, limit); got.Verdict() != OK {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}

// A read that shows another identity than it did is explained by nothing but a write
// of unknown outcome.
func TestMutatedHistoriesFail(t *testing.T) {
	caught := 0
	const runs = 100
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 2))
		ops := simulate(r, 40)
		i := 2 + r.IntN(len(ops)-2)
		for ops[i].Kind != Read {
			i = 2 + r.IntN(len(ops)-2)
		}
		other := r.IntN(len(ops))
		for ops[other].Value == ops[i].Value || ops[other].Kind == Read {
			other = r.IntN(len(ops))
		}
		ops[i].Value = ops[other].Value
		if Register(ops, limit).Verdict() == Illegal {
			caught++
		}
	}
	if caught < runs*9/10 {
		t.Errorf("%d of %d mutated histories were objected to, want nearly all", caught, runs)
	}
}

// Long histories are cut, so that their time grows with their length only.
func TestLongHistoriesAreCut(t *testing.T) {
	ops := simulate(rand.New(rand.NewPCG(1, 3)), 20_000)
	got := Register(ops, time.Minute)
	if got.Verdict() != OK || got.Longest > 10*enough || got.Ops != len(ops) {
		t.Errorf("%d operations: %+v, want all of them, in short parts", len(ops), got)
	}
	var grants []Op
	for i := range int64(50_000) {
		grants = append(grants, grant(i+1, i*10, i*10+95)) // ten at any moment
	}
	if got := Mutex(grants, time.Minute); got.Verdict() != OK || got.Longest > 10*enough {
		t.Errorf("%d grants: %+v, want short parts", len(grants), got)
	}
	t.Logf("register: %d operations, %v; %d parts", len(ops), got.Took, got.Parts)
}

// One wrong operation in a long history is found, in whichever part it is.
func TestCuttingHidesNothing(t *testing.T) {
	for _, at := range []int{10, 3_000, 9_990} {
		var ops []Op
		seen := ""
		for i := range int64(5_000) {
			value := fmt.Sprint(i)
			ops = append(ops, read(i+1, 4*i+1, 4*i+2, seen), write(i+1, 4*i+3, 4*i+4, value))
			seen = value
		}
		ops[at].Value = "z"
		if got := Register(ops, limit); got.Verdict() != Illegal {
			t.Errorf("wrong at %d: %+v", at, got)
		}
		var grants []Op
		for i := range int64(10_000) {
			grants = append(grants, grant(i+1, i*10, i*10+35))
		}
		grants[at].Token += 4
		if got := Mutex(grants, limit); got.Verdict() != Illegal {
			t.Errorf("grants wrong at %d: %+v", at, got)
		}
	}
}

// Sixty writes of unknown outcome at once, and a read that none explains, are more orders than
// anyone can try.
func TestTimeoutIsNoSuccess(t *testing.T) {
	var ops []Op
	for i := range int64(60) {
		ops = append(ops, write(1, i, 1000+i, fmt.Sprint(i)))
	}
	for i := range int64(60) {
		ops = append(ops, read(1, 100+i, 1000+i, fmt.Sprint(i)))
	}
	ops = append(ops, read(1, 2000, 2001, "none"))
	if got := Register(ops, 20*time.Millisecond); got.Verdict() != TimedOut {
		t.Errorf("verdict %s, want %s: %+v", got.Verdict(), TimedOut, got)
	}
}
