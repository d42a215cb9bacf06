package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// targetFigures is what became of the operations on one target. Operations are
// requests: what a client only noticed (a lost lock, leaks) is none.
type targetFigures struct {
	Target       string  `json:"target"`
	Acknowledged int     `json:"acknowledged"`
	Refused      int     `json:"refused"`
	Unknown      int     `json:"unknown"`
	Failed       int     `json:"failed"`
	Rate         float64 `json:"acknowledged_per_second"`
	Grants       int     `json:"grants"`
}

// kindFigures is what one kind of fault has cost.
type kindFigures struct {
	Kind  string `json:"kind"`
	Group string `json:"group"`
	Times int    `json:"times"`
	Undue int    `json:"not_done_as_meant"`
	Words string `json:"may_cost"`

	Service  time.Duration `json:"service_may_take_ns"`        // after the fault's own duration
	Held     time.Duration `json:"longest_fault_ns"`           // from the beginning until healed
	Gap      time.Duration `json:"longest_without_a_grant_ns"` // of anybody, on any lock
	GapAbove time.Duration `json:"longest_beyond_fault_ns"`    // of that, what outlasted the fault
	After    time.Duration `json:"longest_healed_to_served_ns"`
}

// request reports whether an operation was sent to anybody.
func request(o history.Op) bool { return o.Kind != history.Lost && o.Kind != history.Leaks }

// targetsOf counts the operations by target, and in all. The control comes first.
func targetsOf(r Run) (each []targetFigures, total targetFigures) {
	at := map[string]*targetFigures{}
	total.Target = "all"
	for i := range r.Ops {
		o := &r.Ops[i]
		if !request(*o) {
			continue
		}
		name := history.Target(o.Lock)
		f := at[name]
		if f == nil {
			f = &targetFigures{Target: name}
			at[name] = f
		}
		f.count(o)
		total.count(o)
	}
	for _, f := range at {
		f.Rate = float64(f.Acknowledged) / r.length().Seconds()
		each = append(each, *f)
	}
	total.Rate = float64(total.Acknowledged) / r.length().Seconds()
	slices.SortFunc(each, func(a, b targetFigures) int { return byTarget(a.Target, b.Target) })
	return each, total
}

func (f *targetFigures) count(o *history.Op) {
	switch o.Outcome {
	case history.OK:
		f.Acknowledged++
		if o.Kind == history.Acquire {
			f.Grants++
		}
	case history.Refused:
		f.Refused++
	case history.Failed:
		f.Failed++
	default:
		f.Unknown++
	}
}

// refusedByFences counts the reads and writes that a resource has refused: not what a
// client knew by itself, nor the release of a lock that was gone.
func refusedByFences(ops []history.Op) int {
	n := 0
	for i := range ops {
		o := &ops[i]
		if o.Data() && o.Outcome == history.Refused && o.Reason != history.Gone && history.Target(o.Lock) != history.Control {
			n++
		}
	}
	return n
}

// byTarget is the order of targets in every picture and table.
func byTarget(a, b string) int {
	order := history.Targets()
	rank := func(t string) int {
		if i := slices.Index(order, t); i >= 0 {
			return i
		}
		return len(order)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// kindsOf brings together the faults of each kind, by group and name.
func kindsOf(r Run) []kindFigures {
	grants := grantTimes(r.Ops)
	at := map[string]*kindFigures{}
	for _, f := range r.Faults {
		k := at[f.Kind]
		if k == nil {
			k = &kindFigures{Kind: f.Kind, Group: f.Group, Words: f.Cost.Words}
			at[f.Kind] = k
		}
		k.count(f, grants, r.End)
	}
	kinds := make([]kindFigures, 0, len(at))
	for _, k := range at {
		kinds = append(kinds, *k)
	}
	slices.SortFunc(kinds, func(a, b kindFigures) int {
		return cmp.Or(cmp.Compare(groupRank(a.Group), groupRank(b.Group)), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}

func (k *kindFigures) count(f history.Fault, grants []history.Time, end history.Time) {
	k.Times++
	if f.Error != "" {
		k.Undue++
	}
	gap := longestGap(grants, f.Begin, healed(f, end), end)
	k.Service = max(k.Service, f.Cost.Service)
	k.Held = max(k.Held, healed(f, end).Sub(f.Begin))
	k.Gap = max(k.Gap, gap)
	k.GapAbove = max(k.GapAbove, gap-healed(f, end).Sub(f.Begin))
	if f.Healed != 0 && f.End != 0 {
		k.After = max(k.After, f.End.Sub(f.Healed))
	}
}

// healed and served are the fault's moments; the run's end, if there was none.
func healed(f history.Fault, end history.Time) history.Time {
	if f.Healed == 0 {
		return max(end, f.Begin)
	}
	return f.Healed
}

func served(f history.Fault, end history.Time) history.Time {
	return max(f.End, healed(f, end))
}

func grantTimes(ops []history.Op) []history.Time {
	var times []history.Time
	for i := range ops {
		if o := &ops[i]; o.Kind == history.Acquire && o.Outcome == history.OK {
			times = append(times, o.Return)
		}
	}
	slices.Sort(times)
	return times
}

// longestGap is the longest time without a grant that begins between from and to;
// one that had begun before counts from there.
func longestGap(grants []history.Time, from, to, end history.Time) time.Duration {
	var longest time.Duration
	i, _ := slices.BinarySearch(grants, from)
	for at := from; at <= to; i++ {
		next := max(end, at)
		if i < len(grants) {
			next = grants[i]
		}
		longest = max(longest, next.Sub(at))
		if i >= len(grants) {
			break
		}
		at = next
	}
	return longest
}
