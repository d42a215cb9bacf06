package checks

import (
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	// noticing is how much later than its deadline a holder may be told of its loss:
	// it looks at the clock every 250 ms.
	noticing = 500 * time.Millisecond
	// noticingStarved is the same where processors are taken away.
	noticingStarved = 3 * time.Second
)

func deadlineCheck() check {
	return check{
		name: "loss is noticed by the deadline",
		what: "a holder is told of its loss within 500 ms of its deadline (3 s when processors are taken away), unless it stands still then; " +
			"its own handle admits nothing afterwards",
		look:     deadlines,
		possible: anyLost,
	}
}

func anyLost(r *run) bool {
	for _, l := range r.locks {
		if len(l.lost) > 0 {
			return true
		}
	}
	return false
}

func deadlines(r *run, result *Result) {
	for _, l := range r.locks {
		for _, o := range l.lost {
			result.Counted++
			if late := o.Call.Sub(o.Deadline); late > noticing && !r.excused(o, late) {
				result.violate(o.Call, l.name, "%s noticed the loss of hold %d %s after its deadline", o.Client, o.Hold, seconds(late))
			}
		}
		for _, o := range l.data {
			if l.target != "kv" || o.Mode != history.Exclusive || !acknowledged(o) {
				continue
			}
			if end := l.ends[holdOf(o)]; end != nil && end.Return < o.Call {
				result.violate(o.Call, l.name, "%s %s was admitted by a handle that had been lost %s before", o.Name(), o.Kind, seconds(o.Call.Sub(end.Return)))
			}
		}
	}
}

// excused reports whether a fault says why a loss was noticed so late.
func (r *run) excused(o *op, late time.Duration) bool {
	return r.during(o.Deadline.Add(-noticing), o.Call, func(f *history.Fault) bool {
		return f.Group == "cpu" && late <= noticingStarved
	}) || r.stoodStill(o)
}
