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

// defaultFloor is the present. Anything beyond it would be beyond the floor of the
// next restore of the same snapshot, too, and of a cluster that is made anew above
// the present. So there is none where the present is no use.
func defaultFloor(revision int64, now time.Time) (int64, error) {
	clock, err := ClockFloor(now)
	if err != nil {
		return 0, err
	}
	if clock > revision {
		return clock, nil
	}
	return 0, fmt.Errorf("%w: it shows %s, and the tokens of this snapshot are ahead of that, so that every restore of it would begin at the same floor, and issue the same tokens; "+
		"set the clock if it is wrong; if the tokens were moved ahead by hand, restore with --floor N, above every token that was ever issued: %d, if the snapshot was never restored before",
		ErrClock, clockText(now), revision+margin)
}
