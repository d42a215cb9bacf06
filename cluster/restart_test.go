package cluster_test

import (
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fencelock/fencelock/cluster"
)

// A heartbeat that was changed on one member alone makes elections on all: a restart
// with another one says so, once.
func TestTimingChanged(t *testing.T) {
	t.Parallel()
	cfg := single(t)
	shut(t, start(t, cfg))
	slower := edited(cfg, func(c *cluster.Config) { c.Heartbeat, c.Election = 200*time.Millisecond, 2*time.Second })
	for _, test := range []struct {
		cfg  cluster.Config
		want int
	}{{cfg, 0}, {slower, 1}, {slower, 0}} {
		core, seen := observer.New(zapcore.WarnLevel)
		test.cfg.Logger = zap.New(core)
		shut(t, start(t, test.cfg))
		told := seen.FilterMessageSnippet("the same on all members")
		if told.Len() != test.want {
			t.Errorf("heartbeat %v: told %d times, want %d", test.cfg.Heartbeat, told.Len(), test.want)
		}
		for _, e := range told.All() {
			if got := e.ContextMap()["now"]; got != "--heartbeat 200ms --election 2s" {
				t.Errorf("got %q", got)
			}
		}
	}
}

// A member that is moved by its flags alone is not found by the others.
func TestAddressChanged(t *testing.T) {
	t.Parallel()
	cfg, elsewhere := single(t), single(t)
	shut(t, start(t, cfg))
	core, seen := observer.New(zapcore.WarnLevel)
	moved := edited(cfg, func(c *cluster.Config) {
		c.ListenPeer, c.InitialCluster, c.Logger = elsewhere.ListenPeer, nil, zap.New(core)
	})
	shut(t, start(t, moved))
	told := seen.FilterMessageSnippet("let a new member join there").All()
	if len(told) != 1 || told[0].ContextMap()["known"].([]any)[0] != "http://"+cfg.ListenPeer[0] {
		t.Errorf("got %v, want one warning with the address that is known", told)
	}
}
