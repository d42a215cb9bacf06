package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// moment is a few seconds of one lock that are worth a picture.
type moment struct {
	lock     string
	from, to history.Time
	title    string
	words    string
	bad      bool         // a violation
	at       history.Time // of the violation

	called map[string]string // operations, by their identity, that are called by name in the picture
}

// moments are at most three violations, what the control lost once, and refusals under
// as many kinds of faults as fit.
func (s *scene) moments() []moment {
	ms := s.violated()
	if m, ok := s.lostOnce(); ok {
		ms = append(ms, m)
	}
	return append(ms, s.refusals(6-len(ms))...)
}

// violated are the first violations of each check, then their second ones.
func (s *scene) violated() []moment {
	var ms []moment
	for rank, more := 0, true; more && len(ms) < 3; rank++ {
		more = false
		for _, c := range s.Checks {
			if rank >= len(c.Violations) {
				continue
			}
			more = true
			if v := c.Violations[rank]; v.Lock != "" && v.At != 0 && len(ms) < 3 {
				ms = append(ms, moment{
					lock: v.Lock, from: v.At.Add(-2 * time.Second), to: v.At.Add(2 * time.Second), bad: true, at: v.At,
					title: "Violation: " + c.Name, words: short(v.Text, 300),
				})
			}
		}
	}
	return ms
}

// lostOnce is the lost update of the control whose holder held longest, for then the
// other holder is plain to see.
func (s *scene) lostOnce() (moment, bool) {
	begun := map[claim]history.Time{}
	for i := range s.holds {
		begun[claim{s.holds[i].life, s.holds[i].id}] = s.holds[i].from
	}
	var best moment
	var found bool
	for _, lock := range s.counterLocks() {
		if history.Target(lock) != history.Control {
			continue
		}
		for _, u := range s.counterOf(lock) {
			from := begun[claim{u.op.Client, u.op.Hold}]
			if u.fate != lost || u.winner == nil || from == 0 {
				continue
			}
			if f := begun[claim{u.winner.Client, u.winner.Hold}]; f != 0 {
				from = min(from, f)
			}
			to := max(known(u.op), known(u.winner))
			if to.Sub(from) < 15*time.Second && (!found || to.Sub(from) > best.to.Sub(best.from)) {
				found = true
				best = moment{lock: lock, from: from, to: to, title: "Without a fence: an acknowledged update is lost",
					words: fmt.Sprintf("%s and %s both read the same value and wrote the next one. Both were acknowledged; only the write of %s is left.",
						u.op.Client, u.winner.Client, u.winner.Client),
					called: map[string]string{u.op.Name(): "lost", u.winner.Name(): "kept"}}
			}
		}
	}
	return best.padded(), found
}

func (m moment) padded() moment {
	pad := max(m.to.Sub(m.from)/12, 150*time.Millisecond)
	m.from, m.to = m.from.Add(-pad), m.to.Add(pad)
	return m
}

// refusals are stale writes that a fence has refused, each under another fault or of
// another target: those behind the longest holds first.
func (s *scene) refusals(most int) []moment {
	at := map[claim]*hold{}
	for i := range s.holds {
		at[claim{s.holds[i].life, s.holds[i].id}] = &s.holds[i]
	}
	type candidate struct {
		op    *history.Op
		hold  *hold
		kind  string
		score time.Duration
	}
	var found []candidate
	for i := range s.Ops {
		o := &s.Ops[i]
		h := at[claim{o.Client, o.Hold}]
		if o.Outcome != history.Refused || o.Reason != history.Stale || !o.Write() || h == nil || known(o).Sub(h.from) > 15*time.Second {
			continue
		}
		c := candidate{op: o, hold: h, score: known(o).Sub(h.from)}
		for _, f := range s.Faults {
			if hits(f, h.client) && f.Begin <= known(o) && served(f, s.End) >= h.from {
				c.kind = f.Kind
				c.score += time.Minute // a fault of the client itself tells the story
			}
		}
		found = append(found, c)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var ms []moment
	kinds, targets := map[string]bool{}, map[string]int{}
	for _, c := range found {
		if len(ms) == most {
			break
		}
		if kinds[c.kind+c.hold.target] || targets[c.hold.target] == 2 {
			continue
		}
		kinds[c.kind+c.hold.target] = true
		targets[c.hold.target]++
		ms = append(ms, moment{lock: c.hold.lock, from: c.hold.from, to: known(c.op),
			title: "Behind a fence: a stale write is refused", words: refusalWords(c.op, c.kind),
			called: map[string]string{c.op.Name(): "refused"}}.padded())
	}
	return ms
}

func refusalWords(o *history.Op, kind string) string {
	words := fmt.Sprintf("%s held token %d", o.Client, o.Token)
	if kind != "" {
		words += ", then: " + kind
	}
	words += ". Its late write was refused"
	if o.Highest > 0 {
		words += fmt.Sprintf(": the fence had admitted token %d", o.Highest)
	}
	return words + "."
}
