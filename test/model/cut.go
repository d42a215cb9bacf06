package model

import (
	"cmp"
	"slices"
)

// enough operations are in a part for it to end at the next certain state.
const enough = 128

func byGuard(ops []Op) [][]Op {
	return group(ops, func(o Op) string { return o.Guard })
}

func group(ops []Op, of func(Op) string) [][]Op {
	at := map[string]int{}
	var groups [][]Op
	for _, op := range ops {
		i, ok := at[of(op)]
		if !ok {
			i = len(groups)
			at[of(op)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], op)
	}
	return groups
}

// cutGrants cuts one lock's grants, in the order of their tokens. Between two parts
// no grant of the later one came before a grant of the earlier one was asked for: so
// they are right together if each is.
func cutGrants(ops []Op) []part {
	slices.SortFunc(ops, func(a, b Op) int { return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Call, b.Call)) })
	returned := make([]int64, len(ops)+1) // the earliest return from here on
	returned[len(ops)] = Never
	for i := len(ops) - 1; i >= 0; i-- {
		returned[i] = min(returned[i+1], ops[i].Return)
	}
	var parts []part
	p, begin, called := part{}, 0, int64(0)
	for i := range ops {
		if i-begin >= enough && returned[i] >= called && ops[i].Token > ops[i-1].Token {
			p.ops = ops[begin:i]
			parts = append(parts, p)
			p, begin, called = part{start: state{fence: ops[i-1].Token}}, i, 0
		}
		called = max(called, ops[i].Call)
	}
	p.ops = ops[begin:]
	return append(parts, p)
}

// histories parts operations by guard and key, and cuts what is long.
func histories(ops []Op) []part {
	var parts []part
	for _, guard := range byGuard(ops) {
		bound(guard)
		for _, key := range group(guard, func(o Op) string { return o.Key }) {
			slices.SortStableFunc(key, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
			parts = append(parts, cutHistory(key)...)
		}
	}
	return parts
}

// bound ends each unknown operation of one guard when a higher token was admitted,
// and marks the stale ones that a higher token at any key explains.
func bound(ops []Op) {
	raised := slices.DeleteFunc(slices.Clone(ops), func(o Op) bool { return o.Outcome == Stale || o.Outcome == NotHeld })
	slices.SortFunc(raised, func(a, b Op) int { return cmp.Compare(a.Token, b.Token) })
	type earliest struct{ call, admitted int64 }
	from := make([]earliest, len(raised)+1)
	from[len(raised)] = earliest{Never, Never}
	for i := len(raised) - 1; i >= 0; i-- {
		from[i] = earliest{min(from[i+1].call, raised[i].Call), from[i+1].admitted}
		if raised[i].Outcome == Admitted {
			from[i].admitted = min(from[i].admitted, raised[i].Return)
		}
	}
	for i := range ops {
		op := &ops[i]
		if op.Outcome != Unknown && op.Outcome != Stale {
			continue
		}
		higher, _ := slices.BinarySearchFunc(raised, op.Token+1, func(o Op, t int64) int { return cmp.Compare(o.Token, t) })
		if op.Outcome == Unknown {
			op.Return = max(op.Call, min(op.Return, from[higher].admitted))
		} else {
			op.overtaken = from[higher].call <= op.Return
		}
	}
}

// cutHistory cuts one key's operations, in the order of their calls.
func cutHistory(ops []Op) []part {
	p := part{}
	if ops[0].Kind == Forget {
		p.start, ops = state{fence: ops[0].Token, open: true}, ops[1:]
	}
	if len(ops) == 0 {
		return nil
	}
	var parts []part
	begin, returned, alone := 0, int64(-Never), false
	for i := range ops {
		quiet := i > 0 && ops[i].Call > returned
		if quiet && alone && i-begin >= enough && ops[i-1].certain() {
			p.ops = ops[begin:i]
			parts = append(parts, p)
			p, begin = part{start: ops[i-1].leaves()}, i
		}
		alone = quiet
		returned = max(returned, ops[i].Return)
	}
	p.ops = ops[begin:]
	return append(parts, p)
}

// certain reports whether the state behind the operation, if nothing else was under
// way, is known from it alone. A read without a token does not tell the fence.
func (o *Op) certain() bool {
	return o.Outcome == Admitted && o.Token != 0 && (o.Kind == Read || o.Kind == Write)
}

func (o *Op) leaves() state {
	if o.Kind == Write {
		return state{fence: o.Token, value: o.Value}
	}
	return state{fence: o.Token, value: o.shown()}
}
