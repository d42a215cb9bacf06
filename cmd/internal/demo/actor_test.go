//go:build unix

package demo

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hireShell runs a shell script in the place of a worker.
func hireShell(t *testing.T, script string) *actor {
	t.Helper()
	a, err := startActor([]string{"/bin/sh", "-c", script}, t.TempDir(), job{Name: "A"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustEnd(t *testing.T, a *actor) {
	t.Helper()
	pid := a.process.pid()
	if err := a.end(); err != nil {
		t.Errorf("end worker: %v", err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("worker %d is left: %v", pid, err)
	}
}

func TestDeadWorkerIsReported(t *testing.T) {
	a := hireShell(t, "read job; read order; echo out of order >&2; exit 7")
	defer mustEnd(t, a)
	_, err := a.ask(t.Context(), order{Do: doLock}, locked)
	if err == nil || !strings.Contains(err.Error(), "exit code 7") || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("got %v, want the exit code and what was said on standard error", err)
	}
}

func TestSilentWorkerIsReported(t *testing.T) {
	a := hireShell(t, "read job; read order; read forever")
	defer mustEnd(t, a)
	want := errors.New("no time left")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, want)
	defer cancel()
	if _, err := a.ask(ctx, order{Do: doLock}, locked); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestUnwantedAnswerIsReported(t *testing.T) {
	a := hireShell(t, `read job; read order; echo '{"event":"failed","error":"no luck"}'; read forever`)
	defer mustEnd(t, a)
	_, err := a.ask(t.Context(), order{Do: doLock}, locked)
	if err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("got %v, want what the worker said", err)
	}
}

func TestStopAndWake(t *testing.T) {
	a := hireShell(t, `read job; kill -STOP $$; echo '{"event":"unlocked"}'; kill -STOP $$`)
	defer mustEnd(t, a) // it is stopped again by then
	if err := a.process.awaitStop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.process.wake(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.hear(t.Context(), unlocked); err != nil {
		t.Error(err)
	}
	if err := a.process.awaitStop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestStopOfDeadWorker(t *testing.T) {
	a := hireShell(t, "read job; kill -9 $$")
	defer mustEnd(t, a)
	if err := a.process.awaitStop(t.Context()); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v, want that it was killed", err)
	}
}

func TestMissingWorker(t *testing.T) {
	if _, err := startActor([]string{"/nonexistent/worker"}, t.TempDir(), job{Name: "A"}); err == nil {
		t.Error("a program that does not exist was started")
	}
}
