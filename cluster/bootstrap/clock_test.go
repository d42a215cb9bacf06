package bootstrap

import (
	"strings"
	"testing"
	"time"
)

// A floor that is taken from clocks is no better than they are: one that is years
// ahead would be decided on by all, and one that is behind means that nobody knows
// what the present is.
func TestClocksThatMakeTheFloor(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	decision := &Decision{Births: map[string]string{"a": "1", "b": "2"}}
	answer := func(member string, skew time.Duration, floorNow bool) Answer {
		return Answer{Member: member, Name: member, Birth: member, Peers: []string{"a", "b"}, Floor: 1, FloorNow: floorNow, Clock: now.Add(skew).UnixMicro()}
	}
	for _, test := range []struct {
		name     string
		skew     time.Duration
		floorNow bool
		decision *Decision
		words    string
	}{
		{"years ahead", 3 * 365 * 24 * time.Hour, true, nil, "2029-11-29"},
		{"an hour behind", -time.Hour, true, nil, "2026-11-30T11:00:00Z"},
		{"some seconds", 10 * time.Second, true, nil, ""},
		{"the floor is a number", time.Hour, false, nil, ""},
		{"decided", time.Hour, true, decision, ""},
	} {
		self, peer := answer("a", 0, test.floorNow), answer("b", test.skew, test.floorNow)
		peer.Decision = test.decision
		err := disagreement(self, map[string]Heard{"b": {Answer: &peer}})
		switch {
		case test.words == "" && err != nil:
			t.Errorf("%s: got %v, want no refusal", test.name, err)
		case test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words) || !strings.Contains(err.Error(), "set the clocks")):
			t.Errorf("%s: got %v, want to read %q, and what to do", test.name, err, test.words)
		}
	}
}
