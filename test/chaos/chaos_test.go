//go:build linux

package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// The test is its own client process, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == clientMode {
		main()
	}
	goleak.VerifyTestMain(m)
}

// A short run of every kind that can be had without minutes of compiling. "go run
// ./test/chaos" repeats it, with the flags that it prints.
func TestChaos(t *testing.T) {
	args := []string{"-minutes", "3", "-seed", "2027"}
	if os.Getenv("CI") == "true" {
		args = append(args, "-strict")
	}
	if code := command(t.Context(), args); code != 0 {
		t.Errorf("exit code %d, want 0: see above", code)
	}
}

// What makes no sense is refused before anything is started.
func TestWrongUsage(t *testing.T) {
	for _, args := range []string{"-minutes 0", "-minutes NaN", "-minutes 10000", "-ttl 1s", "-ttl 31s", "-clients 21", "-together 3", "-targets kv,disk", "-workloads queue",
		"-targets kv,kv", "-faults (", "-faults nothing-is-called-so", "-seed x", "report.html", "-clock -overlay x.json"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
	if code := command(context.Background(), []string{"-minutes", "0"}); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
}

// The command that is told to repeat a run asks for the same run.
func TestRepeat(t *testing.T) {
	args := "-minutes 1.5 -seed 9 -faults ^SIGSTOP -together 1 -clients 3 -ttl 3s -targets kv,sql -workloads bank -clock"
	opts, err := parse(strings.Fields(args), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.TrimPrefix(strings.ReplaceAll(opts.repeat(), "'", ""), "go run ./test/chaos ")
	again, err := parse(strings.Fields(words), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.repeat(), opts.repeat(); got != want || again.seed != 9 || again.faults.String() != "^SIGSTOP" || !again.clock {
		t.Errorf("%s repeats %s", got, want)
	}
}
