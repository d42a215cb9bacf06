package fencingtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

func harness(f faults) Harness {
	return Harness{
		Open:   func(_ testing.TB, verify Verify) Resource { return newModel(f, verify) },
		Reopen: func(t testing.TB, r Resource) Resource { return r.(*model).reopen(t) },
	}
}

// issuing is a harness whose tokens a lock service issues.
func issuing(f faults) Harness {
	h := harness(f)
	h.Open = func(testing.TB, Verify) Resource {
		m := newModel(f, nil)
		m.issued = map[string]fencing.Token{}
		return m
	}
	h.NextToken = func(_ testing.TB, r Resource, guard string) fencing.Token {
		m := r.(*model)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.issued[guard] += 7
		return m.issued[guard]
	}
	h.Without = map[Capability]string{AnyToken: "the model has a lock service", Verifies: "the model is its own lock service"}
	return h
}

func TestRightFencesPass(t *testing.T) {
	t.Run("any token", func(t *testing.T) { Run(t, harness(faults{})) })
	t.Run("issued tokens", func(t *testing.T) { Run(t, issuing(faults{})) })
}

// wrong fences, each with the cases that must object to it, among others.
func wrongFences() map[string]struct {
	harness Harness
	object  []string
} {
	type wrong = struct {
		harness Harness
		object  []string
	}
	of := func(f faults, object ...string) wrong { return wrong{harness(f), object} }
	return map[string]wrong{
		"no fence":                        of(faults{neverRefuses: true}, "lower is refused", "the late writer", "racers in any order"),
		"the first token for ever":        of(faults{neverAdopts: true}, "higher is adopted by any operation", "two guards do not disturb each other"),
		"equal is refused":                of(faults{refusesEqual: true}, "equal is admitted", "racers of one token"),
		"reads pass":                      of(faults{readsPass: true}, "lower is refused", "the crossing"),
		"reads do not raise":              of(faults{readsDoNotRaise: true}, "higher is adopted by any operation", "the crossing", "a restart keeps the fence that a read raised"),
		"reads of nothing do not raise":   of(faults{firstReadPasses: true}, "the first operation claims the fence"),
		"advance does nothing":            of(faults{advanceDoesNot: true}, "the crossing after an advance"),
		"deletes pass":                    of(faults{deletePasses: true}, "lower is refused", "a delete keeps the fence"),
		"a delete forgets":                of(faults{deleteForgets: true}, "a delete keeps the fence", "a restart keeps the fence of what was deleted"),
		"a restart forgets":               of(faults{restartForgets: true}, "a restart keeps the fence", "a restart keeps the fence that a read raised"),
		"a restart forgets reads":         of(faults{restartForgetsGap: true}, "a restart keeps the fence that a read raised"),
		"deletes do not last":             of(faults{restartResurrects: true}, "a restart keeps the fence of what was deleted"),
		"refused and written":             of(faults{writesAnyway: true}, "lower is refused", "the late writer"),
		"check and write apart":           of(faults{checksApart: true}, "a relay of racers"),
		"equal tokens shut out":           of(faults{locksByToken: true}, "racers of one token"),
		"missing is admitted":             of(faults{admitsMissing: true}, "a missing sequencer is refused"),
		"zero is admitted":                of(faults{admitsZero: true}, "an impossible token is refused"),
		"negative is admitted":            of(faults{admitsNegative: true}, "an impossible token is refused"),
		"a foreign token moves the fence": of(faults{raisesImpossible: true}, "a sequencer of another lock is refused"),
		"text is read leniently":          of(faults{lenientText: true}, "malformed text is refused"),
		"text is refused":                 of(faults{strictText: true}, "well-formed text is admitted"),
		"any lock is admitted":            of(faults{anyLock: true}, "a sequencer of another lock is refused"),
		"one fence for all guards":        of(faults{oneFence: true}, "two guards do not disturb each other"),
		"one key for all guards":          of(faults{oneKey: true}, "two guards do not disturb each other"),
		"a fence for each key":            of(faults{fencePerKey: true}, "one fence covers all keys of a guard"),
		"tokens as text":                  of(faults{asText: true}, "tokens are compared as whole numbers"),
		"tokens as float64":               of(faults{asFloat: true}, "tokens are compared as whole numbers"),
		"tokens in 32 bits":               of(faults{as32Bits: true}, "tokens are compared as whole numbers"),
		"tokens beyond 2^53 are refused":  of(faults{refusesBig: true}, "without verification the largest token is admitted"),
		"ErrStale without numbers":        of(faults{vagueRefusal: true}, "lower is refused"),
		"the wrong highest":               of(faults{wrongHighest: true}, "lower is refused"),
		"verify is never asked":           of(faults{verifiesNever: true}, "a token that verify refuses moves nothing"),
		"verify is always asked":          of(faults{verifiesAlways: true}, "verify is asked about a token that would raise the fence, and about no other"),
		"verify is asked too late":        of(faults{verifiesLate: true}, "a token that verify refuses moves nothing"),
		"contexts are ignored":            of(faults{ignoresContext: true}, "a cancelled operation has no effect"),
		"a made-up token moves the fence": {issuing(faults{notIssuedRaises: true}), []string{"a token that was never issued moves nothing"}},
		"issued, and no fence":            {issuing(faults{neverRefuses: true}), []string{"lower is refused", "the crossing"}},
		"issued, check and write apart":   {issuing(faults{checksApart: true}), []string{"a relay of racers"}},
	}
}

// Every wrong fence is caught by the cases that are there for it, and there is no
// case that has never caught one.
func TestWrongFencesAreCaught(t *testing.T) {
	var mu sync.Mutex
	caught := map[string]bool{}
	for name, wrong := range wrongFences() {
		t.Run(name, func(t *testing.T) {
			got := objections(t, wrong.harness)
			for _, want := range wrong.object {
				if len(got[want]) == 0 {
					t.Errorf("%q does not object; these do: %q", want, slices.Sorted(maps.Keys(got)))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for c := range got {
				caught[c] = true
			}
			t.Logf("%d cases object, %q among them", len(got), wrong.object)
		})
	}
	for _, c := range cases() {
		if !caught[c.name] {
			t.Errorf("case %q has not objected to any wrong fence", c.name)
		}
	}
}

// objections runs every case that h can take and returns what each found wrong.
func objections(t *testing.T, h Harness) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, c := range cases() {
		if h.leavesOut(c) != "" {
			continue
		}
		if texts := objectionsOf(t, func(tb testing.TB) { c.check(newProbe(tb, h)) }); len(texts) > 0 {
			found[c.name] = texts
		}
	}
	return found
}

// objectionsOf runs check with a recorder in the place of a test.
func objectionsOf(t *testing.T, check func(testing.TB)) []string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); check(r) }()
	<-done
	return r.texts
}

// recorder is a test whose failures are findings.
type recorder struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

func (r *recorder) Error(args ...any)                 { r.note(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.note(fmt.Sprint(args...)); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) {
	r.note(fmt.Sprintf(format, args...))
	runtime.Goexit()
}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Failed() bool        { r.mu.Lock(); defer r.mu.Unlock(); return len(r.texts) > 0 }

// A harness that says too little, or contradicts itself, is refused.
func TestHarnessMustSayWhatItLacks(t *testing.T) {
	change := func(f func(h *Harness)) Harness { h := harness(faults{}); f(&h); return h }
	for name, h := range map[string]Harness{
		"no Open":                        change(func(h *Harness) { h.Open = nil }),
		"no Reopen, and does not say so": change(func(h *Harness) { h.Reopen = nil }),
		"Reopen, and says there is none": change(func(h *Harness) { h.Without = map[Capability]string{Restarts: "in memory"} }),
		"no reason":                      change(func(h *Harness) { h.Without = map[Capability]string{Texts: ""} }),
		"unknown capability":             change(func(h *Harness) { h.Without = map[Capability]string{"fly": "no wings"} }),
		"issues tokens, says nothing":    change(func(h *Harness) { h.NextToken = issuing(faults{}).NextToken }),
		"says that tokens are issued":    change(func(h *Harness) { h.Without = map[Capability]string{AnyToken: "issued"} }),
	} {
		if texts := objectionsOf(t, func(tb testing.TB) { h.validate(tb) }); len(texts) == 0 {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What a resource cannot do and does not declare is asked for, and missed.
func TestUndeclaredCapabilityFails(t *testing.T) {
	with := func(before func(op *Op) error) Harness {
		h := harness(faults{})
		h.Open = func(_ testing.TB, verify Verify) Resource { return filter{newModel(faults{}, verify), before} }
		h.Reopen = func(_ testing.TB, r Resource) Resource { return r }
		return h
	}
	deaf := harness(faults{})
	deaf.Open = func(testing.TB, Verify) Resource { return newModel(faults{}, nil) }
	madeUp := issuing(faults{})
	madeUp.NextToken = nil
	for capability, h := range map[Capability]Harness{
		Texts:    with(func(op *Op) error { op.Text = ""; return nil }),
		Deletes:  with(func(op *Op) error { return map[Kind]error{Delete: errors.ErrUnsupported}[op.Kind] }),
		Restarts: harness(faults{restartForgets: true}),
		Verifies: deaf,
		AnyToken: madeUp,
		AnyGuard: harness(faults{anyLock: true}),
		ManyKeys: harness(faults{fencePerKey: true}),
	} {
		h.Without = nil
		if len(objections(t, h)) == 0 {
			t.Errorf("no case misses the capability to %s", capability)
		}
	}
}

// filter is a resource before which something happens to operations.
type filter struct {
	Resource
	before func(op *Op) error
}

func (f filter) Do(ctx context.Context, op Op) (string, error) {
	if err := f.before(&op); err != nil {
		return "", err
	}
	return f.Resource.Do(ctx, op)
}
