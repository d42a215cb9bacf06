package traffic

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Those who are about to write meet, and stand still together.
func TestStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, stops := time.Now(), 0
		var stoppedAt time.Duration
		s := &standstill{tasks: 3, stop: func() { stops++; stoppedAt = time.Since(began); time.Sleep(time.Minute) }}
		s.meet() // nobody has asked
		s.ask()
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				s.meet()
				if got, want := time.Since(began), time.Minute+200*time.Millisecond; got != want {
					t.Errorf("task %d goes on after %v, want %v", i, got, want)
				}
			})
		}
		all.Wait()
		if s.meet(); stops != 1 || stoppedAt != 200*time.Millisecond {
			t.Errorf("%d stops, the last after %v; want one, when the last task came", stops, stoppedAt)
		}
	})
}

// One that waits in vain for the others stands still alone; and nobody does who comes
// when whoever has asked does not wait any more.
func TestStandstillOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, stops := time.Now(), 0
		s := &standstill{tasks: 2, stop: func() { stops++ }}
		s.ask()
		s.meet()
		if got := time.Since(began); stops != 1 || got != gathering {
			t.Errorf("%d stops, after %v; want one after %v", stops, got, gathering)
		}
		s.ask()
		time.Sleep(asked + time.Millisecond)
		if s.meet(); stops != 1 {
			t.Error("it stood still long after it was asked to")
		}
	})
}
