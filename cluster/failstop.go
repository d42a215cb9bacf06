package cluster

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// failStop stands behind the Fatal and Panic of the log that etcd is given.
// While the member is not serving, such an entry ends the goroutine that wrote it
// and makes Start fail. While it serves, the entry ends the process, as in etcd:
// the goroutine may have applied half of a transaction.
type failStop struct {
	died chan struct{} // closed with the first entry that did not end the process

	mu      sync.Mutex
	serving bool
	err     error
}

func newFailStop() *failStop { return &failStop{died: make(chan struct{})} }

// guard returns log with f behind its Fatal and Panic.
func (f *failStop) guard(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WithFatalHook(f), zap.WithPanicHook(f))
}

func (f *failStop) setServing(serving bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serving = serving
}

// removedPanic is what etcd says, with a Panic, when it is asked for its role within
// the second between its removal and its end. Nothing is half done then: the request
// alone ends, and the member as it would have.
const removedPanic = "failed to find local ID in cluster members"

// OnWrite runs in the goroutine that logs, and does not return to it.
func (f *failStop) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if entry.Message == removedPanic || f.survive(entry.Message, fields) {
		runtime.Goexit()
	}
	if entry.Level == zapcore.FatalLevel {
		zapcore.WriteThenFatal.OnWrite(entry, fields)
	}
	zapcore.WriteThenPanic.OnWrite(entry, fields)
}

func (f *failStop) survive(message string, fields []zapcore.Field) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.serving {
		return false
	}
	if f.err == nil {
		f.err = fatalError(message, fields)
		close(f.died)
	}
	return true
}

// forgottenPanic is in what Raft says when the leader knows of entries that this
// member has confirmed, and no longer has.
const forgottenPanic = "Was the raft log corrupted, truncated, or lost?"

// ErrForgotten: the data folder is older than what the member told the others. It must
// not be used any more, not even by a cluster whose other members are stopped: what
// only this member and one that is lost had confirmed, tokens among it, would be
// issued again.
var ErrForgotten = errors.New("the data folder has forgotten what this member confirmed to the others: it is a copy or a disk image of an earlier day, or its disk lost writes; take it for lost, and run `fencelock member replace`")

// fatalError keeps the entry's error, if it has one.
func fatalError(message string, fields []zapcore.Field) error {
	if strings.Contains(message, forgottenPanic) {
		return fmt.Errorf("%w (%s)", ErrForgotten, message)
	}
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			return fmt.Errorf("etcd gave up: %s: %w", message, err)
		}
	}
	return fmt.Errorf("etcd gave up: %s", message)
}

// cause returns what the entry said, once died is closed.
func (f *failStop) cause() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
