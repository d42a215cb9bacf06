package cluster

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// What etcd repeats without a pause does not fill the disk, and hides nothing else.
func TestBoundedLog(t *testing.T) {
	core, seen := observer.New(zapcore.WarnLevel)
	f := newFailStop()
	log := f.guard(bounded(zap.New(core)))
	for range 5000 {
		log.Warn("failed to publish", zap.String("error", "too many requests"))
	}
	log.Warn("disk is slow")
	if got := seen.FilterMessage("failed to publish").Len(); got < 1 || got > 10*sameEntries {
		t.Errorf("got the same entry %d times, want about %d", got, sameEntries)
	}
	if got := seen.FilterMessage("disk is slow").Len(); got != 1 {
		t.Errorf("got another entry %d times, want 1", got)
	}
	for range 2 * sameEntries { // left out of the log, and yet it ends its goroutine
		ended, returned := make(chan struct{}), false
		go func() {
			defer close(ended)
			log.Fatal("cannot go on")
			returned = true
		}()
		if <-ended; returned {
			t.Fatal("the log returned to a goroutine that cannot go on")
		}
	}
}
