package traffic

import (
	"os"
	"runtime"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// leakWait is how long goroutines and files may last after everything was closed:
// connections end in the background.
const (
	leakWait = 5 * time.Second
	leakLook = 20 * time.Millisecond
)

// inUse is what a process has running and open.
type inUse struct{ goroutines, files int }

func countInUse() inUse {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		files = nil // no /proc: nothing to compare
	}
	return inUse{goroutines: runtime.NumGoroutine(), files: len(files)}
}

// leaks writes down what is open beyond what was before. closing is what Close has
// said, which is no failure: a client that reaches nobody leaves its claims to their
// TTL.
func (r *recorder) leaks(before inUse, closing error) {
	e, ok := r.call(history.Event{Kind: history.Leaks})
	if !ok {
		return
	}
	now := countInUse()
	for deadline := time.Now().Add(leakWait); now.beyond(before) && time.Now().Before(deadline); now = countInUse() {
		time.Sleep(leakLook)
	}
	e.Goroutines, e.Files, e.Outcome = max(0, now.goroutines-before.goroutines), max(0, now.files-before.files), history.OK
	switch {
	case now.beyond(before):
		e.Reason = string(stacks())
	case closing != nil:
		e.Reason = closing.Error()
	}
	r.end(e)
}

func (u inUse) beyond(before inUse) bool {
	return u.goroutines > before.goroutines || u.files > before.files
}
