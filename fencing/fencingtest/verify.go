package fencingtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/fencelock/fencelock/fencing"
)

// verifyCases are about tokens that nobody was granted.
func verifyCases() []testCase {
	return []testCase{
		{name: "verify is asked about a token that would raise the fence, and about no other",
			needs: []Capability{Verifies}, check: asksOnlyToRaise},
		{name: "a token that verify refuses moves nothing", needs: []Capability{Verifies}, check: verifyRefuses},
		{name: "a token that was never issued moves nothing", issue: true, check: neverIssued},
	}
}

// service stands for the lock service that a fence asks: it knows tokens up to
// a highest one, and remembers which it was asked about.
type service struct {
	mu      sync.Mutex
	highest fencing.Token
	asked   []fencing.Sequencer
}

func (s *service) verify(_ context.Context, seq fencing.Sequencer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, seq)
	if seq.Token > s.highest {
		return fmt.Errorf("verify: %w", fencing.ErrNotIssued)
	}
	return nil
}

// wasAsked wants the service to have been asked about seq and nothing else since
// the last call; without seq, about nothing at all. Asking twice is allowed: a
// fence may have to begin anew.
func (p *probe) wasAsked(s *service, after string, seq ...fencing.Sequencer) {
	p.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := slices.Compact(s.asked); !slices.Equal(got, seq) {
		p.Errorf("after %s verify was asked about %v, want %v", after, got, seq)
	}
	s.asked = nil
}

func asksOnlyToRaise(p *probe) {
	lock := &service{highest: 100}
	p = newVerifyingProbe(p.TB, p.harness, lock.verify)
	ask := func(op Op, seq ...fencing.Sequencer) {
		p.Helper()
		_, _ = p.do(op)
		p.wasAsked(lock, show(op), seq...)
	}
	for i, kind := range p.kinds() {
		raise := as(fencing.Token(10*(i+1)), kind, "x")
		ask(raise, raise.Sequencer)
		for _, again := range p.kinds() {
			ask(as(raise.Sequencer.Token, again, "x"))
			ask(as(raise.Sequencer.Token-1, again, "x"))
			ask(with(fencing.Sequencer{}, again))
			ask(with(fencing.Sequencer{Lock: guard}, again))
			if p.harness.has(AnyGuard) {
				ask(with(fencing.Sequencer{Lock: otherGuard, Token: 90}, again))
			}
		}
	}
}

func verifyRefuses(p *probe) {
	lock := &service{highest: 100}
	p = newVerifyingProbe(p.TB, p.harness, lock.verify)
	for _, kind := range p.kinds() {
		p.refuse(as(101, kind, "must not be written"), fencing.ErrNotIssued)
	}
	p.write(10, "ten")
	for _, token := range []fencing.Token{101, 1<<53 + 1, math.MaxInt64} {
		for _, kind := range p.kinds() {
			p.refuse(as(token, kind, "must not be written"), fencing.ErrNotIssued)
			p.unmoved(10, "ten")
		}
	}
	p.write(11, "eleven")
	p.stale(as(10, Write, "must not be written"), 11)
}

func neverIssued(p *probe) {
	token := p.next()
	p.write(token, "data")
	for _, made := range []fencing.Token{token + 1_000_000, 1<<53 + 1, math.MaxInt64} {
		for _, kind := range p.kinds() {
			p.refuse(as(made, kind, "must not be written"), fencing.ErrNotIssued)
			p.unmoved(token, "data")
		}
	}
}
