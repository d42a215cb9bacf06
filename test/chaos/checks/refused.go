package checks

import "github.com/fencelock/fencelock/test/chaos/history"

func refusedCheck() check {
	return check{
		name:     "refused operations had no effect",
		what:     "what a fence has refused, or what failed before it was sent, is never seen by a reader and never replaced by a writer",
		look:     refused,
		possible: anyWithoutEffect,
	}
}

func withoutEffect(o *op) bool { return o.Outcome == history.Refused || o.Outcome == history.Failed }

func anyWithoutEffect(r *run) bool {
	for _, l := range r.locks {
		for _, o := range l.data {
			if withoutEffect(o) && o.Write() {
				return true
			}
		}
	}
	return false
}

func refused(r *run, result *Result) {
	for _, l := range r.locks {
		told := map[string]bool{} // once per value is enough
		look := func(o *op, value string) {
			w := r.values[value]
			if w == nil || !withoutEffect(w) || w.Lock != l.name || told[value] {
				return
			}
			told[value] = true
			result.violate(o.Return, l.name, "%s was refused (%s), and %s %s has met its value", w.Name(), w.Reason, o.Name(), o.Kind)
		}
		for _, o := range l.data {
			if withoutEffect(o) {
				if o.Write() {
					result.Counted++
				}
				continue
			}
			look(o, o.Prev)
			look(o, o.Seen)
			for _, item := range o.Items {
				look(o, item)
			}
		}
	}
}
