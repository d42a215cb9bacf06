package supervisor

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// heldLock is a lock under the test's control.
type heldLock struct {
	deadline time.Time
	err      error
	asked    int // how often for the error
}

func (l *heldLock) Done() <-chan struct{} { return nil }
func (l *heldLock) Deadline() time.Time   { return l.deadline }
func (l *heldLock) Err() error            { l.asked++; return l.err }

// lookAt looks after each of the times given, and tells what was due.
func lookAt(w *watch, afters ...time.Duration) []due {
	start := time.Now()
	var all []due
	for _, after := range afters {
		time.Sleep(after - time.Since(start))
		all = append(all, w.look())
	}
	return all
}

func wantDue(t *testing.T, got, want []due) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("look %d: %v is due, want %v (all: %v, want %v)", i, got[i], want[i], got, want)
		}
	}
}

func TestTerminateThenKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{lock: &heldLock{deadline: time.Now().Add(10 * time.Second)}, grace: 3 * time.Second}
		got := lookAt(w, 0, 6999*time.Millisecond, 7*time.Second, 9999*time.Millisecond, 10*time.Second, 11*time.Second)
		wantDue(t, got, []due{hold, hold, terminate, hold, kill, kill})
	})
}

// A renewal that gets through in the meantime does not call the command back.
func TestRenewalAfterTerminate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &heldLock{deadline: time.Now().Add(10 * time.Second)}
		w := &watch{lock: lock, grace: 3 * time.Second}
		got := lookAt(w, 7*time.Second)
		lock.deadline = lock.deadline.Add(time.Minute)
		got = append(got, lookAt(w, 2999*time.Millisecond, 3*time.Second)...)
		wantDue(t, got, []due{terminate, hold, kill})
	})
}

func TestRenewalsMoveTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &heldLock{}
		w := &watch{lock: lock, grace: 3 * time.Second}
		for range 100 {
			lock.deadline = time.Now().Add(10 * time.Second)
			wantDue(t, lookAt(w, 6*time.Second), []due{hold})
		}
	})
}

func TestBrokenLockKillsAtOnce(t *testing.T) {
	lock := &heldLock{deadline: time.Now().Add(time.Hour), err: errors.New("broken")}
	if got := (&watch{lock: lock, grace: time.Second}).look(); got != kill {
		t.Errorf("%v is due, want %v", got, kill)
	}
}

// Who finds out that the deadline has passed is the one who has to tell the
// others; a log that blocks would hold the kill up.
func TestDeadlineComesBeforeTheError(t *testing.T) {
	lock := &heldLock{deadline: time.Now().Add(-time.Second)}
	if got := (&watch{lock: lock}).look(); got != kill || lock.asked != 0 {
		t.Errorf("%v is due and the error was asked for %d times, want %v and 0", got, lock.asked, kill)
	}
}

func TestNextLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &heldLock{deadline: time.Now().Add(10 * time.Second)}
		w := &watch{lock: lock, grace: 3 * time.Second}
		for _, step := range []struct{ after, want time.Duration }{
			{0, lookEvery},
			{6950 * time.Millisecond, 50 * time.Millisecond}, // until SIGTERM
			{7 * time.Second, lookEvery},
			{9990 * time.Millisecond, 10 * time.Millisecond}, // until SIGKILL
			{time.Minute, time.Millisecond},
		} {
			time.Sleep(step.after - (10*time.Second - time.Until(lock.deadline)))
			w.look()
			if got := w.next(); got != step.want {
				t.Errorf("after %v the next look is in %v, want %v", step.after, got, step.want)
			}
		}
	})
}

func TestGrace(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct{ asked, ttl, want time.Duration }{
		{-1, 15 * s, 3 * s},
		{-1, 2 * s, 400 * ms},
		{5 * s, 15 * s, 5 * s},
		{time.Hour, 15 * s, 5 * s},
		{0, 15 * s, 0},
		{-1, s, 100 * ms}, // trusted for 500 ms, renewed after 333 ms
		{666 * ms, 2 * s, 500 * ms},
	} {
		if got := Grace(c.asked, c.ttl); got.Round(ms) != c.want {
			t.Errorf("Grace(%v, %v) = %v, want %v", c.asked, c.ttl, got, c.want)
		}
	}
}

func TestCheckGrace(t *testing.T) {
	for grace, ok := range map[time.Duration]bool{-1: false, 0: true, 5 * time.Second: true, 5001 * time.Millisecond: false} {
		if err := CheckGrace(grace, 15*time.Second); (err == nil) != ok {
			t.Errorf("CheckGrace(%v, 15s) = %v, want ok: %v", grace, err, ok)
		}
	}
}
