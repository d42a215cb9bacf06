package snapshot_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/snapshot"
)

// A clock that is certainly wrong makes no floor: one whose battery is empty would
// begin below every cluster there was, and one that is far ahead above every other
// there will be.
func TestClockFloor(t *testing.T) {
	for _, test := range []struct {
		shows string
		ok    bool
	}{
		{"1970-01-01T00:03:00Z", false},
		{"1969-12-31T00:00:00Z", false},
		{"2025-12-31T23:59:59Z", false},
		{"2026-11-30T12:00:00Z", true},
		{"2099-01-01T00:00:00Z", true},
		{"2113-01-01T00:00:00Z", false},
	} {
		now, err := time.Parse(time.RFC3339, test.shows)
		if err != nil {
			t.Fatal(err)
		}
		floor, err := snapshot.ClockFloor(now)
		switch {
		case test.ok && (err != nil || floor != now.UnixMicro()):
			t.Errorf("%s: got %d, %v, want %d", test.shows, floor, err, now.UnixMicro())
		case !test.ok && (!errors.Is(err, snapshot.ErrClock) || !strings.Contains(err.Error(), test.shows)):
			t.Errorf("%s: got %d, %v, want ErrClock, and what the clock shows", test.shows, floor, err)
		}
	}
}
