package client

import (
	"errors"
	"testing"
	"time"
)

// One cluster may take another's place, but not the two in turns.
func TestClustersInTurn(t *testing.T) {
	const a, b, c = 0xa, 0xb, 0xc
	var seen clusters
	start := time.Now()
	for i, answer := range []struct {
		id    uint64
		after time.Duration
		ok    bool
	}{
		{a, 0, true}, {a, 1, true}, {0, 1, true},
		{b, 2 * time.Second, true},
		{a, 3 * time.Second, false}, {b, 4 * time.Second, true}, {a, 5 * time.Second, false},
		{c, 6 * time.Second, true}, {b, 7 * time.Second, false}, {a, 8 * time.Second, false},
		{a, 2*time.Second + leftTime, true}, {c, 3*time.Second + leftTime, false},
	} {
		if err := seen.answered(answer.id, start.Add(answer.after)); (err == nil) != answer.ok || err != nil && !errors.Is(err, ErrTwoClusters) {
			t.Errorf("answer %d, of cluster %x after %v: got %v, want it admitted: %t", i, answer.id, answer.after, err, answer.ok)
		}
	}
}
