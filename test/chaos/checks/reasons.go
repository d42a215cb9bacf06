package checks

import (
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// told is how much later than a refusal its holder may be told of the loss behind it.
const told = 3 * time.Second

func reasonsCheck() check {
	return check{
		name: "nobody is refused without a reason",
		what: "whoever is refused was overtaken by a higher token, had lost or given back its claim, had stood still, or was a fault's victim; " +
			"and whoever has lost its claim before its deadline was such a victim",
		look:     reasons,
		possible: func(r *run) bool { return anyRefused(r) || anyLost(r) },
	}
}

func refusal(o *op) bool { return o.Outcome == history.Refused }

func anyRefused(r *run) bool {
	for _, l := range r.locks {
		if len(only(l.data, refusal)) > 0 {
			return true
		}
	}
	return false
}

func reasons(r *run, result *Result) {
	for _, l := range r.locks {
		higher := l.claims()
		granted := l.granted()
		for _, o := range l.data {
			if !refusal(o) {
				continue
			}
			result.Counted++
			if o.Reason == history.Stale && o.Highest > o.Token && !shared(o) && higher(o) {
				continue
			}
			if end := l.given[holdOf(o)]; end != nil && end.Call <= o.Return {
				continue
			}
			if !r.explained(l, o, granted[holdOf(o)]) {
				result.violate(o.Return, l.name, "%s %s with token %d was refused (%s, highest %d) for no reason that is known",
					o.Name(), o.Kind, o.Token, o.Reason, o.Highest)
			}
		}
	}
}

// claims returns what tells whether somebody with a higher token had asked for the
// lock before an operation returned.
func (l *lock) claims() func(*op) bool {
	type claim struct {
		call  history.Time
		token int64
	}
	var highest []claim // in the order of the calls, each with a higher token than all before
	for _, o := range l.grants {
		if len(highest) == 0 || o.Token > highest[len(highest)-1].token {
			highest = append(highest, claim{o.Call, o.Token})
		}
	}
	return func(o *op) bool {
		low, high := 0, len(highest)
		for low < high {
			if mid := (low + high) / 2; highest[mid].token > o.Token {
				high = mid
			} else {
				low = mid + 1
			}
		}
		return low < len(highest) && highest[low].call < o.Return
	}
}

// explained reports whether the hold was lost, or a fault overlapped it that lets one be
// refused.
func (r *run) explained(l *lock, o, grant *op) bool {
	if end := l.ends[holdOf(o)]; end != nil && end.Call <= o.Return.Add(told) {
		return true
	}
	if r.during(o.Return, o.Return.Add(told), func(f *history.Fault) bool { return kills(f) && victim(f, o.Client) }) {
		return true // before it could be told
	}
	from := o.Call
	if grant != nil {
		from = grant.Call
	}
	return r.mayHaveEnded(from, o.Return, o) || r.during(from, o.Return, func(f *history.Fault) bool { return f.Cost.Rollback == l.target })
}
