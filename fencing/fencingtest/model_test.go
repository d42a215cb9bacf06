package fencingtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

// faults are what can be wrong with a model. Each is a mistake that somebody
// makes who writes a fence of his own.
type faults struct {
	neverRefuses      bool // there is no fence
	neverAdopts       bool // the first token is the only one ever
	refusesEqual      bool
	readsPass         bool // reads are neither checked nor raise the fence
	readsDoNotRaise   bool // a read is checked, but only writes raise the fence
	firstReadPasses   bool // a read of what is not there raises nothing
	advanceDoesNot    bool // Advance is admitted and forgotten
	deleteForgets     bool // the fence lies with the data
	deletePasses      bool // a delete is not checked
	restartForgets    bool
	restartForgetsGap bool // a restart takes the fence from the last write
	restartResurrects bool // a delete is not stored
	writesAnyway      bool // refused, but done
	checksApart       bool // check and write are two steps
	locksByToken      bool // equal tokens shut each other out while one is at work
	admitsMissing     bool
	admitsZero        bool
	admitsNegative    bool
	raisesImpossible  bool // a refused token of another lock moves the fence
	lenientText       bool
	strictText        bool // refuses what is well-formed
	anyLock           bool
	oneFence          bool // for all guards
	fencePerKey       bool
	asText            bool // tokens are compared as strings
	asFloat           bool
	as32Bits          bool
	vagueRefusal      bool // ErrStale without the numbers
	wrongHighest      bool // the error names the refused token as the highest
	verifiesNever     bool
	verifiesAlways    bool
	verifiesLate      bool // raises the fence, then asks
	ignoresContext    bool
	oneKey            bool // all keys of all guards are one
	refusesBig        bool // tokens beyond 2^53
	notIssuedRaises   bool // a model with a service: a made-up token is refused, and moves the fence
}

// model is a fenced resource in memory, right unless faults says otherwise.
type model struct {
	faults
	verify Verify
	issued map[string]fencing.Token // not nil: only these tokens were granted

	mu     sync.Mutex
	fence  map[string]fencing.Token
	data   map[string]string
	disk   map[string]fencing.Token // the fences of the last writes, for restartForgetsGap
	atWork map[fencing.Token]bool
}

func newModel(f faults, verify Verify) *model {
	return &model{faults: f, verify: verify, fence: map[string]fencing.Token{}, data: map[string]string{},
		disk: map[string]fencing.Token{}, atWork: map[fencing.Token]bool{}}
}

func (m *model) Do(ctx context.Context, op Op) (string, error) {
	if ctx.Err() != nil && !m.ignoresContext {
		return "", ctx.Err()
	}
	seq, err := m.sequencer(op)
	if err != nil {
		return "", err
	}
	leave, err := m.work(seq)
	if err != nil {
		return "", err
	}
	defer leave()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.admit(ctx, op, seq); err != nil && (!m.writesAnyway || op.Kind != Write) {
		return "", err
	} else if err != nil {
		m.apply(op, seq)
		return "", err
	}
	if m.checksApart {
		m.mu.Unlock()
		dawdle()
		m.mu.Lock()
	}
	return m.apply(op, seq), nil
}

func (m *model) work(seq fencing.Sequencer) (leave func(), _ error) {
	if !m.locksByToken {
		return func() {}, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.atWork[seq.Token] {
		return nil, errors.New("busy")
	}
	m.atWork[seq.Token] = true
	return func() { dawdle(); m.mu.Lock(); defer m.mu.Unlock(); delete(m.atWork, seq.Token) }, nil
}

// dawdle takes as long as a round trip to some database takes: nobody knows.
func dawdle() {
	for range rand.IntN(200) {
		runtime.Gosched()
	}
}

func (m *model) sequencer(op Op) (fencing.Sequencer, error) {
	seq := op.Sequencer
	if op.Text != "" {
		return m.parse(op.Text)
	}
	err := seq.CheckGuard(op.Guard)
	switch {
	case errors.Is(err, fencing.ErrMissing) && m.admitsMissing,
		errors.Is(err, fencing.ErrMalformed) && seq.Token == 0 && m.admitsZero,
		errors.Is(err, fencing.ErrMalformed) && seq.Token < 0 && m.admitsNegative,
		errors.Is(err, fencing.ErrWrongGuard) && m.anyLock:
		return seq, nil
	case errors.Is(err, fencing.ErrWrongGuard) && m.raisesImpossible:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.fence[m.place(op)] = max(m.fence[m.place(op)], seq.Token)
	}
	return seq, err
}

func (m *model) parse(text string) (fencing.Sequencer, error) {
	if m.strictText {
		return fencing.Sequencer{}, fencing.ErrMalformed
	}
	if lock, number, ok := strings.Cut(text, "#"); ok && m.lenientText {
		n, err := strconv.ParseInt(number, 0, 64)
		if err != nil {
			return fencing.Sequencer{}, fencing.ErrMalformed
		}
		return fencing.Sequencer{Lock: lock, Token: fencing.Token(n)}, nil
	}
	return fencing.ParseSequencer(text)
}

// place is where the fence of op is kept.
func (m *model) place(op Op) string {
	switch {
	case m.oneFence:
		return ""
	case m.fencePerKey:
		return op.Guard + " " + op.Key
	}
	return op.Guard
}

func (m *model) admit(ctx context.Context, op Op, seq fencing.Sequencer) error {
	if m.passes(op) || (m.admitsMissing || m.admitsZero || m.admitsNegative) && seq.Token <= 0 {
		return nil
	}
	if seq.Token > 1<<53 && m.refusesBig {
		return fencing.ErrMalformed
	}
	place := m.place(op)
	now, known := m.fence[place]
	if known && m.lower(seq.Token, now) || known && m.refusesEqual && seq.Token == now || known && m.neverAdopts && seq.Token != now {
		return m.refusal(op, seq, now)
	}
	raises := !known || m.lower(now, seq.Token)
	if m.issued != nil && seq.Token > m.issued[op.Guard] {
		if m.notIssuedRaises {
			m.fence[place] = seq.Token
		}
		return fencing.ErrNotIssued
	}
	if m.verifiesLate && raises {
		m.fence[place] = seq.Token
	}
	if m.verify != nil && (raises && !m.verifiesNever || m.verifiesAlways) {
		if err := m.verify(ctx, seq); err != nil {
			return err
		}
	}
	if raises && !m.keepsFence(op) {
		m.fence[place] = seq.Token
	}
	return nil
}

func (m *model) passes(op Op) bool {
	return m.neverRefuses || m.readsPass && op.Kind == Read || m.deletePasses && op.Kind == Delete
}

// keepsFence is whether an admitted operation does not raise the fence.
func (m *model) keepsFence(op Op) bool {
	_, found := m.data[m.key(op)]
	return m.readsDoNotRaise && op.Kind == Read || m.firstReadPasses && op.Kind == Read && !found || m.advanceDoesNot && op.Kind == Advance
}

func (m *model) lower(a, b fencing.Token) bool {
	switch {
	case m.asText:
		return a.String() < b.String()
	case m.asFloat:
		return float64(a) < float64(b)
	case m.as32Bits:
		return int32(a) < int32(b)
	}
	return a < b
}

func (m *model) refusal(op Op, seq fencing.Sequencer, highest fencing.Token) error {
	if m.vagueRefusal {
		return fencing.ErrStale
	}
	if m.wrongHighest {
		highest = seq.Token
	}
	return &fencing.StaleError{Guard: op.Guard, Token: seq.Token, Highest: highest}
}

func (m *model) key(op Op) string {
	if m.oneKey {
		return ""
	}
	return op.Guard + " " + op.Key
}

func (m *model) apply(op Op, seq fencing.Sequencer) string {
	switch op.Kind {
	case Read:
		return m.data[m.key(op)]
	case Write:
		m.data[m.key(op)] = op.Value
		m.disk[m.place(op)] = seq.Token
	case Delete:
		if !m.restartResurrects {
			delete(m.data, m.key(op))
		} else {
			m.data[m.key(op)] += "\x00deleted"
		}
		if m.deleteForgets {
			delete(m.fence, m.place(op))
		}
	}
	return ""
}

func (m *model) reopen(testing.TB) Resource {
	again := newModel(m.faults, m.verify)
	again.issued, again.fence, again.data = m.issued, m.fence, m.data
	if m.restartForgets {
		again.fence = map[string]fencing.Token{}
	}
	if m.restartForgetsGap {
		again.fence = m.disk
	}
	return again
}
