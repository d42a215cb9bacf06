package demo

import (
	"fmt"
	"io"
	"time"

	"github.com/fencelock/fencelock/fencing"
)

// timeline writes what happens, as it happens, in lines of at most 100 columns.
type timeline struct {
	w       io.Writer
	start   time.Time
	err     error    // the first one from w
	moments []moment // of the run that is being played
}

func newTimeline(w io.Writer) *timeline {
	if w == nil {
		w = io.Discard
	}
	return &timeline{w: w, start: time.Now()}
}

// text writes lines as they are.
func (t *timeline) text(format string, args ...any) {
	if _, err := fmt.Fprintf(t.w, format+"\n", args...); err != nil && t.err == nil {
		t.err = fmt.Errorf("write the timeline: %w", err)
	}
}

// event writes one line of the timeline: who did or was told what, now, and under
// which token, if any.
func (t *timeline) event(k kind, who string, token fencing.Token, format string, args ...any) {
	under := ""
	if token.Valid() {
		under = token.String()
	}
	now, what := time.Since(t.start), fmt.Sprintf(format, args...)
	t.moments = append(t.moments, moment{now, k, who, token, what})
	t.text("%6.2fs  %-7s  %5s  %s", now.Seconds(), who, under, what)
}

// take returns the moments since it was called last.
func (t *timeline) take() []moment {
	taken := t.moments
	t.moments = nil
	return taken
}

// columns writes the heads of the columns of event.
func (t *timeline) columns() { t.text("%7s  %-7s  %5s  %s", "time", "who", "token", "what") }

// introduction tells a newcomer what is going to happen.
func (t *timeline) introduction() {
	t.text(`What a pause does to a lock, and what a fence does about it.

An account holds %d. Worker A adds %d, worker B adds %d, each under the same lock: take the lock,
read, check that the lock is still held, write. Right between A's check and its write, A is stopped
(SIGSTOP) for longer than its lock survives without it (%v), and later woken (SIGCONT).
The workers are processes, the cluster is real, and no pause is simulated.
`, opening, addA, addB, workerTTL)
	t.columns()
}

// heading begins a run.
func (t *timeline) heading(number int, s scene) {
	t.text("\n%d/%d  %s: %s; %s", number, len(scenes()), s.name, s.guard(), s.plot())
}

// verdict says in one line what a run came to.
func (t *timeline) verdict(r Result) { t.text("=> %s", r.verdict()) }

// summary sets the runs side by side.
func (t *timeline) summary(results []Result) {
	t.text("\n%-13s%-22s%-16s%-9s%-9s%s", "case", "what guards the data", "A's late write", "due", "balance", "acknowledged update lost")
	for _, r := range results {
		lost := "none"
		if r.UpdateLost {
			lost = list(r.Missing)
		}
		t.text("%-13s%-22s%-16s%-9d%-9d%s", r.Case, scene{r.Case, r.Fenced}.guard(), r.StaleWrite, r.Due, r.Balance, lost)
	}
}

// moral is for a demo whose runs ended as they must.
func (t *timeline) moral() {
	t.text(`
A lock alone cannot stop a holder that pauses: it can pause after any check. The fence refuses it
where the data is, because every holder's first read or write there shuts out all earlier ones.

What to read next
  README.md        what is promised and what is not; a Go example of ten lines
  docs/design.md   how locks, tokens and fences work, and why
  go doc github.com/fencelock/fencelock/client    the Go API (Lock.KV is the fenced store)`)
}
