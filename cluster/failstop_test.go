package cluster

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/zap"
)

func TestFailStopEndsGoroutineOnly(t *testing.T) {
	f := newFailStop()
	log := f.guard(zap.NewNop()).Named("raft")
	cause := errors.New("disk on fire")
	for _, write := range []func(string, ...zap.Field){log.Fatal, log.Panic} {
		ended, returned := make(chan struct{}), false
		go func() {
			defer close(ended)
			write("save entries", zap.Int("n", 3), zap.Error(cause))
			returned = true
		}()
		<-ended
		if returned {
			t.Error("the log returned to a goroutine that cannot go on")
		}
	}
	<-f.died
	if err := f.cause(); !errors.Is(err, cause) || !strings.Contains(err.Error(), "save entries") {
		t.Errorf("got %v, want the entry's message and error", err)
	}
}

func TestFailStopWhileServing(t *testing.T) {
	f := newFailStop()
	f.setServing(true)
	defer func() {
		if recover() == nil {
			t.Error("a panic in a member that serves was held up")
		}
	}()
	f.guard(zap.NewNop()).Panic("half a transaction")
}

// A member that has just been removed, and is asked for its role, must not take the
// process with it.
func TestFailStopOfRemovedMember(t *testing.T) {
	f := newFailStop()
	f.setServing(true)
	ended, returned := make(chan struct{}), false
	go func() {
		defer close(ended)
		f.guard(zap.NewNop()).Panic(removedPanic)
		returned = true
	}()
	<-ended
	select {
	case <-f.died:
		t.Error("the member was taken for dead")
	default:
	}
	if returned {
		t.Error("the log returned to a request that cannot go on")
	}
}
