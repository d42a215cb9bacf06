package fencingtest

import (
	"context"
	"math"

	"github.com/fencelock/fencelock/fencing"
)

// refusalCases are about sequencers that no fence can admit.
func refusalCases() []testCase {
	return []testCase{
		{name: "a missing sequencer is refused", check: missing},
		{name: "an impossible token is refused", check: impossible},
		{name: "malformed text is refused", needs: []Capability{Texts}, check: malformed},
		{name: "well-formed text is admitted", needs: []Capability{Texts}, check: wellFormed},
		{name: "a sequencer of another lock is refused", needs: []Capability{AnyGuard}, check: wrongGuard},
		{name: "a cancelled operation has no effect", check: cancelled},
	}
}

func missing(p *probe) { p.refuseAll(fencing.ErrMissing, with(fencing.Sequencer{}, 0)) }

func impossible(p *probe) {
	for _, token := range []fencing.Token{0, -1, math.MinInt64} {
		p.refuseAll(fencing.ErrMalformed, with(fencing.Sequencer{Lock: guard, Token: token}, 0))
	}
}

// malformed sends what a lenient reader of numbers or of percent-encoding takes.
func malformed(p *probe) {
	for _, text := range []string{
		"33", guard, guard + "#", guard + "#0", guard + "#-1", guard + "#+33", guard + "#033", guard + "#33.0", guard + "#3e1",
		guard + "#0x21", guard + "#33x", guard + "#9223372036854775808", guard + "#18446744073709551617", guard + "#33#34", "#33",
		"accounts%2F42#33", "accounts%2f42#33", guard + "%#33", guard + "#33," + guard + "#33", `"` + guard + `#33"`,
	} {
		op := with(fencing.Sequencer{}, 0)
		op.Text = text
		p.refuseAll(fencing.ErrMalformed, op)
	}
}

func wellFormed(p *probe) {
	p.write(p.next(), "old")
	token := p.next()
	op := as(token, Read, "")
	op.Text = op.Sequencer.String()
	if got, want := p.admit(op), "old"; got != want {
		p.Errorf("%s: got %q, want %q", show(op), got, want)
	}
	p.unmoved(token, "old")
}

func wrongGuard(p *probe) {
	for _, seq := range []fencing.Sequencer{
		{Lock: otherGuard, Token: 1},
		{Lock: otherGuard, Token: 10},
		{Lock: otherGuard, Token: math.MaxInt64},
		{Lock: "accounts", Token: 50},
		{Lock: guard + "/x", Token: 50},
		{Lock: "Accounts/42", Token: 50},
	} {
		p.refuseAll(fencing.ErrWrongGuard, with(seq, 0))
	}
}

// refuseAll performs op as every kind, on a resource that was never used and on
// one with a fence and data, and wants it refused without effect.
func (p *probe) refuseAll(want error, op Op) {
	p.Helper()
	fresh := newProbe(p.TB, p.harness)
	for _, op.Kind = range p.kinds() {
		fresh.refuse(op, want)
	}
	token := fresh.next()
	fresh.unmoved(token, "")
	fresh.write(token, "data")
	for _, op.Kind = range p.kinds() {
		fresh.refuse(op, want)
		fresh.unmoved(token, "data")
	}
}

// cancelled asks for nothing but an error and no effect: what the error is
// depends on how the resource is reached.
func cancelled(p *probe) {
	token := p.next()
	p.write(token, "data")
	ctx, cancel := context.WithCancel(p.Context())
	cancel()
	for _, kind := range p.kinds() {
		op := as(token, kind, "must not be written")
		if _, err := p.resource.Do(ctx, op); err == nil {
			p.Errorf("%s: got no error from a cancelled context", show(op))
		}
		p.unmoved(token, "data")
	}
}
