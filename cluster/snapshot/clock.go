package snapshot

import (
	"errors"
	"fmt"
	"time"
)

// ErrClock: no floor can be taken from this host's clock. Nothing was touched.
var ErrClock = errors.New("the floor cannot be taken from this host's clock")

// written is a time that a clock which is right has passed: machines whose clock has
// lost its battery begin again in 1970, or where they were last stopped.
var written = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// ClockFloor is the present in microseconds since 1970, as a floor. It is [ErrClock]
// if the clock is certainly wrong.
func ClockFloor(now time.Time) (int64, error) {
	if clock := now.UnixMicro(); now.After(written) && clock <= MaxFloor {
		return clock, nil
	}
	return 0, fmt.Errorf("%w: it shows %s; set the clock, or give a number above every token that was ever issued", ErrClock, clockText(now))
}

func clockText(now time.Time) string { return now.UTC().Format(time.RFC3339) }

// defaultFloor is the present wherever it can be. Anything beyond it would be beyond
// the floor of the next restore of the same snapshot, too, and of a cluster that is
// made anew above the present.
//
// Where the snapshot is ahead of the clock, or the clock is certainly behind, the
// floor lies above the snapshot by more than a cluster makes in a day, and by the
// time since 2026: so a second restore of the same snapshot begins above the first
// there as well, as long as the clock goes on.
func defaultFloor(revision int64, now time.Time) (floor int64, behind bool) {
	if clock, err := ClockFloor(now); err == nil && clock > revision {
		return clock, false
	}
	since := max(0, now.Sub(written).Microseconds())
	return max(now.UnixMicro(), revision+margin+since), true
}
