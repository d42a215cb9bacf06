package cluster

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"testing"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
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

// A folder comes back from a disk image of an earlier day. What it has forgotten may
// be what made a majority. Raft notices when the leader knows of it, in words that
// tell an operator nothing; they are asked of Raft itself, since they may change.
func TestFailStopOfAnOldFolder(t *testing.T) {
	f := newFailStop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { f.guard(zap.NewNop()).Panic(fmt.Sprint(recover())) }()
		hearOfTheFuture(t)
	}()
	<-ended
	if err := f.cause(); !errors.Is(err, ErrForgotten) || !strings.Contains(err.Error(), "member replace") {
		t.Errorf("got %v, want ErrForgotten, and what to do", err)
	}
}

// hearOfTheFuture is a member with an empty log, whose leader says that it has
// confirmed five entries.
func hearOfTheFuture(t *testing.T) {
	storage := raft.NewMemoryStorage()
	node, err := raft.NewRawNode(&raft.Config{
		ID: 1, ElectionTick: 10, HeartbeatTick: 1, MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 16,
		Storage: storage, Logger: &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)},
	})
	if err != nil {
		t.Errorf("new node: %v", err)
		return
	}
	_ = node.Step(&raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(1)), Commit: new(uint64(5))})
}
