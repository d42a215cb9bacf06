package model

import (
	"hash/maphash"
	"strings"

	"github.com/anishathalye/porcupine"
)

// state is that of any of the models: small, and comparable with ==.
type state struct {
	fence int64  // the highest token granted or admitted
	value string // of a list: its items, each behind a separator
	open  bool   // what stands before value is not known
}

// separator of items; no identity contains it.
const separator = "\x00"

func mutex() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, input, _ any) (bool, any) {
			if start, ok := input.(state); ok {
				return true, start
			}
			op := input.(*Op)
			if op.Token <= s.(state).fence {
				return false, s
			}
			return true, state{fence: op.Token}
		},
		Hash: func(s any) uint64 { return uint64(s.(state).fence) },
	}
}

func resource() porcupine.Model {
	seed := maphash.MakeSeed()
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, input, _ any) []any {
			if start, ok := input.(state); ok {
				return []any{start}
			}
			return input.(*Op).steps(s.(state))
		},
		Hash: func(s any) uint64 { return maphash.Comparable(seed, s.(state)) },
	}
	return m.ToModel()
}

// steps is the states that s may turn into.
func (o *Op) steps(s state) []any {
	switch o.Outcome {
	case NotHeld:
		return []any{s}
	case Stale:
		if o.Token < s.fence || o.overtaken {
			return []any{s}
		}
		return nil
	case Unknown:
		if next, ok := o.done(s); ok && next != s {
			return []any{s, next}
		}
		return []any{s}
	}
	if next, ok := o.done(s); ok {
		return []any{next}
	}
	return nil
}

// done is the state behind the operation, if s admits it and it answers rightly.
func (o *Op) done(s state) (state, bool) {
	if o.Token != 0 && o.Token < s.fence || o.Token == 0 && o.Kind != Read {
		return s, false
	}
	s.fence = max(s.fence, o.Token)
	switch o.Kind {
	case Write:
		s.value, s.open = o.Value, false
	case Append:
		return s.append(o.Prev, o.Value)
	case Read:
		if o.Outcome == Unknown { // nobody saw what it has read
			return s, true
		}
		return s.read(o.shown())
	}
	return s, true
}

// shown is what a read has seen, in the form of a state.
func (o *Op) shown() string {
	if o.Items == nil {
		return o.Value
	}
	var b strings.Builder
	for _, item := range o.Items {
		b.WriteString(separator)
		b.WriteString(item)
	}
	return b.String()
}

func (s state) read(shown string) (state, bool) {
	if !s.open {
		return s, shown == s.value
	}
	if !strings.HasSuffix(shown, s.value) {
		return s, false
	}
	s.value, s.open = shown, false
	return s, true
}

func (s state) append(prev, item string) (state, bool) {
	last := s.value[strings.LastIndex(s.value, separator)+1:]
	if last != prev && !(s.open && s.value == "") {
		return s, false
	}
	s.value += separator + item
	return s, true
}
