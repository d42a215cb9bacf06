package model

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// Mutex checks grants: per lock, each token exceeds the highest seen.
func Mutex(ops []Op, limit time.Duration) Report {
	var parts []part
	for _, of := range byGuard(ops) {
		parts = append(parts, cutGrants(of)...)
	}
	return run(mutex(), parts, limit)
}

// Register checks reads and writes of fenced registers.
func Register(ops []Op, limit time.Duration) Report { return run(resource(), histories(ops), limit) }

// List checks reads of and appends to fenced lists.
func List(ops []Op, limit time.Duration) Report { return run(resource(), histories(ops), limit) }

// part is a history, or a piece of one, and the state at its beginning.
type part struct {
	start state
	ops   []Op
}

// run asks porcupine about each part. limit bounds all of them together.
func run(m porcupine.Model, parts []part, limit time.Duration) Report {
	begin := time.Now()
	r := Report{Parts: len(parts)}
	for _, p := range parts {
		r.Ops += len(p.ops)
		r.Longest = max(r.Longest, len(p.ops))
		verdict := TimedOut
		if left := limit - time.Since(begin); left > 0 {
			verdict = ask(m, p, left)
		}
		if verdict != OK {
			r.Findings = append(r.Findings, p.finding(verdict))
		}
	}
	r.Took = time.Since(begin)
	return r
}

func ask(m porcupine.Model, p part, limit time.Duration) Verdict {
	ops := make([]porcupine.Operation, 0, len(p.ops)+1)
	first := p.ops[0].Call
	for i := range p.ops {
		first = min(first, p.ops[i].Call)
		ops = append(ops, porcupine.Operation{Input: &p.ops[i], Call: p.ops[i].Call, Return: p.ops[i].Return})
	}
	// The first operation, before all others, is the state to begin with.
	ops = append(ops, porcupine.Operation{Input: p.start, Call: first - 2, Return: first - 1})
	switch porcupine.CheckOperationsTimeout(m, ops, limit) {
	case porcupine.Ok:
		return OK
	case porcupine.Illegal:
		return Illegal
	}
	return TimedOut
}

func (p part) finding(v Verdict) Finding {
	f := Finding{Guard: p.ops[0].Guard, Key: p.ops[0].Key, Verdict: v, Ops: len(p.ops), From: p.ops[0].Call}
	for _, op := range p.ops {
		f.From = min(f.From, op.Call)
		if op.Return != Never {
			f.To = max(f.To, op.Return)
		}
	}
	return f
}
