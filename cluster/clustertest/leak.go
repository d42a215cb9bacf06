package clustertest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leakWait is how long goroutines may last after the last test. When a member
// stops, some of its peer connections live on until they have read nothing for
// 5 s (rafthttp.ConnReadTimeout): the timeout is set anew by a read that begins
// just as net/http wants to abort it.
const leakWait = 12 * time.Second

// Main is for TestMain of packages that start clusters: it runs the tests, and
// fails if a goroutine is left after that. It does not return.
func Main(m *testing.M, ignore ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		if err := leftGoroutines(ignore); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines left %v after the tests: %v\n", leakWait, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftGoroutines looks until nothing is left; Find pauses by itself.
func leftGoroutines(ignore []goleak.Option) error {
	deadline := time.Now().Add(leakWait)
	for {
		err := goleak.Find(ignore...)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
