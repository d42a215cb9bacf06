package memfence

import (
	"context"

	"github.com/fencelock/fencelock/fencing"
)

// post is the fence of one guard. Whoever calls its methods holds Fence.mu.
type post struct {
	highest fencing.Token   // never falls
	current map[*visit]bool // at work under highest
	older   int             // how many are at work under lower tokens
	freed   chan struct{}   // closed when older falls to zero
}

// visit is one piece of work.
type visit struct {
	post  *post
	ended bool // belongs to Fence.mu

	held  context.Context
	hurry context.CancelCauseFunc
}

// raise makes seq's token the highest, and tells those at work to hurry.
func (p *post) raise(seq fencing.Sequencer) {
	for v := range p.current {
		v.hurry(&fencing.StaleError{Guard: seq.Lock, Token: p.highest, Highest: seq.Token})
	}
	if len(p.current) > 0 && p.older == 0 {
		p.freed = make(chan struct{})
	}
	p.older += len(p.current)
	clear(p.current)
	p.highest = seq.Token
}

func (p *post) remove(v *visit) {
	if v.ended {
		return
	}
	v.ended = true
	if p.current[v] {
		delete(p.current, v)
		return
	}
	if p.older--; p.older == 0 {
		close(p.freed)
	}
}
