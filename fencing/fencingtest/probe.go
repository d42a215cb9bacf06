package fencingtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing"
)

const (
	guard      = "accounts/42"
	otherGuard = "accounts/43"
	key        = "balance"
	otherKey   = "limit"
)

// opTimeout is far more than an operation takes, even under -race on a busy
// machine: one that hangs is to fail as itself, not as the whole test.
const opTimeout = time.Minute

// probe performs operations on one resource and says what is wrong with the
// answers.
type probe struct {
	testing.TB
	harness  Harness
	resource Resource
	issued   map[string]fencing.Token // by guard: the token that next returned last
}

func newProbe(t testing.TB, h Harness) *probe { return newVerifyingProbe(t, h, nil) }

func newVerifyingProbe(t testing.TB, h Harness, verify Verify) *probe {
	t.Helper()
	return &probe{TB: t, harness: h, resource: h.Open(t, verify), issued: map[string]fencing.Token{}}
}

// next grants the lock: it returns a token higher than all before. The holder
// before must have done what it was to do as a holder.
func (p *probe) next() fencing.Token { p.Helper(); return p.nextOf(guard) }

func (p *probe) nextOf(guard string) fencing.Token {
	p.Helper()
	if p.harness.NextToken != nil {
		p.issued[guard] = p.harness.NextToken(p, p.resource, guard)
	} else {
		p.issued[guard] += 10
	}
	return p.issued[guard]
}

// kinds is every kind of operation that the resource knows.
func (p *probe) kinds() []Kind {
	if p.harness.has(Deletes) {
		return []Kind{Read, Write, Delete, Advance}
	}
	return []Kind{Read, Write, Advance}
}

func (p *probe) do(op Op) (string, error) {
	ctx, cancel := context.WithTimeout(p.Context(), opTimeout)
	defer cancel()
	return p.resource.Do(ctx, op)
}

// as is an operation on the usual key by the holder of token.
func as(token fencing.Token, kind Kind, value string) Op {
	return Op{Kind: kind, Guard: guard, Key: key, Value: value, Sequencer: fencing.Sequencer{Lock: guard, Token: token}}
}

// with is an operation on the usual key under any sequencer.
func with(seq fencing.Sequencer, kind Kind) Op {
	return Op{Kind: kind, Guard: guard, Key: key, Value: "must not be written", Sequencer: seq}
}

// admit wants op to be admitted, and returns what it read.
func (p *probe) admit(op Op) string {
	p.Helper()
	value, err := p.do(op)
	if err != nil {
		p.Errorf("%s: got %v, want it admitted", show(op), err)
	}
	return value
}

func (p *probe) write(token fencing.Token, value string) {
	p.Helper()
	p.admit(as(token, Write, value))
}

// holds wants the usual key to hold value, and the holder of token to be
// admitted still.
func (p *probe) holds(token fencing.Token, value string) {
	p.Helper()
	if got := p.admit(as(token, Read, "")); got != value {
		p.Errorf("token %v reads %q, want %q", token, got, value)
	}
}

// refuse wants op to be refused as want.
func (p *probe) refuse(op Op, want error) {
	p.Helper()
	if _, err := p.do(op); !errors.Is(err, want) {
		p.Errorf("%s: got %v, want it refused as %q", show(op), err, want)
	}
}

// stale wants op to be refused with an error that names the guard, the token,
// and the highest token that the fence has admitted.
func (p *probe) stale(op Op, highest fencing.Token) {
	p.Helper()
	_, err := p.do(op)
	var got *fencing.StaleError
	if !errors.Is(err, fencing.ErrStale) || !errors.As(err, &got) {
		p.Errorf("%s: got %v, want a *fencing.StaleError: the fence has admitted %v", show(op), err, highest)
		return
	}
	if want := (fencing.StaleError{Guard: op.Guard, Token: op.Sequencer.Token, Highest: highest}); *got != want {
		p.Errorf("%s: got %+v, want %+v", show(op), *got, want)
	}
}

// unmoved wants the fence to stand at token or below: its holder goes on, and
// finds what it wrote.
func (p *probe) unmoved(token fencing.Token, value string) {
	p.Helper()
	for _, kind := range []Kind{Advance, Read} {
		p.admit(as(token, kind, ""))
	}
	p.holds(token, value)
}

// show is an operation for a failure's text.
func show(op Op) string {
	under := op.Sequencer.String()
	if op.Text != "" {
		under = "text " + op.Text
	} else if op.Sequencer == (fencing.Sequencer{}) {
		under = "no sequencer"
	}
	return op.Kind.String() + " of " + op.Guard + " under " + under
}
