package fencingtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing"
)

// crashVariable tells a test binary that it is a process to be killed.
const crashVariable = "FENCINGTEST_CRASH"

const (
	killedAt  = "killed before step: " // what a process prints before its death
	maxKills  = 100                    // far more steps than an operation has
	workFails = 3                      // exit code of a process whose operation was refused
)

// The tokens of a crash test: one that wrote the old state, one between, and one
// whose holder dies.
const (
	oldToken     fencing.Token = 10
	betweenToken fencing.Token = 15
	newToken     fencing.Token = 20
)

// CrashHarness describes an adapter that does its work inside the user's process.
type CrashHarness struct {
	// Open opens the resource in the folder dir, as its last user left it. The
	// adapter calls step before each step of an operation that changes anything.
	Open func(t testing.TB, dir string, step func(name string)) Resource

	// Without may name Deletes.
	Without map[Capability]string
}

// Crash kills a process (SIGKILL) before each step of each kind of operation, on a
// resource never used before and on one with data. What is left must be the old
// value or the new one, never the new one behind the old fence, and never a lower
// fence; and the next holder must be able to go on.
//
// The process is the test binary again, so a test (or subtest) can call Crash once
// only, and must do the same up to there every time.
func Crash(t *testing.T, h CrashHarness) {
	t.Helper()
	if text := os.Getenv(crashVariable); text != "" {
		h.die(t, text)
	}
	for _, kind := range (&probe{harness: Harness{Without: h.Without}}).kinds() {
		for _, used := range []bool{false, true} {
			crash{TB: t, harness: h, kind: kind, used: used}.killAtEachStep()
		}
	}
}

// crash is one kind of operation, killed at each of its steps.
type crash struct {
	testing.TB
	harness CrashHarness
	kind    Kind
	used    bool // whether the old token wrote a value before
}

func (c crash) killAtEachStep() {
	c.Helper()
	var steps []string
	for {
		dir := c.TempDir()
		if c.used {
			c.open(dir).write(oldToken, "old")
		}
		step, killed := c.process(dir, len(steps)+1)
		c.inspect(dir, step, !killed)
		if !killed {
			break
		}
		if steps = append(steps, step); len(steps) > maxKills {
			c.Fatalf("%v: more than %d steps", c.kind, maxKills)
		}
	}
	if len(steps) == 0 {
		c.Errorf("%v (used before: %v): no step was ever called, so none was tested", c.kind, c.used)
	}
	c.Logf("%v (used before: %v): killed before %s", c.kind, c.used, strings.Join(steps, ", "))
}

func (c crash) open(dir string) *probe {
	return &probe{TB: c, resource: c.harness.Open(c, dir, func(string) {})}
}

// process runs the operation in a process of its own that dies before its n-th
// step. It returns the step's name, or that the process came to its end.
func (c crash) process(dir string, n int) (step string, killed bool) {
	c.Helper()
	segments := strings.Split(c.Name(), "/")
	for i, segment := range segments {
		segments[i] = "^" + regexp.QuoteMeta(segment) + "$"
	}
	child := exec.CommandContext(c.Context(), os.Args[0], "-test.run="+strings.Join(segments, "/"), "-test.count=1")
	child.Env = append(child.Environ(), fmt.Sprintf("%s=%d %d %q", crashVariable, c.kind, n, dir),
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // otherwise -race adds a second to each process that survives
	out, err := child.CombinedOutput()
	_, step, killed = strings.Cut(string(out), killedAt)
	if err != nil && !killed {
		c.Fatalf("%v: the process that was to be killed before step %d failed: %v\n%s", c.kind, n, err, out)
	}
	return strings.TrimSpace(step), killed
}

// die is what the process does that process started.
func (h CrashHarness) die(t testing.TB, text string) {
	var kind Kind
	var fatal, n int
	var dir string
	if _, err := fmt.Sscanf(text, "%d %d %q", &kind, &fatal, &dir); err != nil {
		t.Fatalf("%s=%q: %v", crashVariable, text, err)
	}
	r := h.Open(t, dir, func(name string) {
		if n++; n == fatal {
			fmt.Println(killedAt + name)
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			<-time.After(time.Minute) // it does not come back from here
		}
	})
	if _, err := r.Do(context.Background(), as(newToken, kind, "new")); err != nil {
		fmt.Println(err)
		os.Exit(workFails)
	}
	os.Exit(0)
}

// inspect opens what a dead process left behind. done is whether it had come to
// the end of its operation.
func (c crash) inspect(dir, step string, done bool) {
	c.Helper()
	when := fmt.Sprintf("%v (used before: %v), killed before %q", c.kind, c.used, step)
	if done {
		when = fmt.Sprintf("%v (used before: %v), not killed", c.kind, c.used)
	}
	p := c.open(dir)
	before, after := c.values()
	if c.used {
		if _, err := p.do(as(oldToken-1, Advance, "")); !errors.Is(err, fencing.ErrStale) {
			c.Errorf("%s: the fence fell: token %v: got %v, want ErrStale", when, oldToken-1, err)
		}
	}
	value, err := p.do(as(betweenToken, Read, ""))
	allowed := []string{before}
	var stale *fencing.StaleError
	if errors.As(err, &stale) && stale.Highest == newToken {
		allowed = append(allowed, after)
		value, err = p.do(as(newToken, Read, ""))
	} else if done {
		c.Errorf("%s: the fence is not at %v: token %v got %q, %v", when, newToken, betweenToken, value, err)
	}
	if done {
		allowed = []string{after}
	}
	if err != nil || !slices.Contains(allowed, value) {
		c.Errorf("%s: the fence refused token %v: %v; then got value %q, %v, want one of %q", when, betweenToken, stale != nil, value, err, allowed)
	}
	p.write(newToken, "again")
	p.holds(newToken, "again")
}

// values are what the key holds before and after the operation.
func (c crash) values() (before, after string) {
	if c.used {
		before = "old"
	}
	return before, map[Kind]string{Write: "new", Read: before, Advance: before}[c.kind]
}
