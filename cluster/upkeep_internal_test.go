package cluster

import (
	"testing"
	"time"
)

// What a member does about its database without being asked.
func TestUpkeepDefaults(t *testing.T) {
	got := Config{}.withDefaults()
	if want := (Defrag{Every: time.Hour, Share: .5, Least: 64 << 20}); got.Defrag != want {
		t.Errorf("got %+v, want %+v", got.Defrag, want)
	}
	if off := (Config{Defrag: Defrag{Every: -1}}).withDefaults(); off.Defrag.Every >= 0 {
		t.Errorf("switched off: every %v", off.Defrag.Every)
	}
	if got.ListenMetrics != "" {
		t.Errorf("a library's member listens for metrics on %q, want nowhere", got.ListenMetrics)
	}
}
