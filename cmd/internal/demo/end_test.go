//go:build unix

package demo

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endTime is how long anything may take to end. It takes two seconds.
const endTime = 30 * time.Second

// startUntilStopped runs the demo until it has stopped a worker, and returns that
// worker's process id.
func startUntilStopped(t *testing.T, dir string) (cmd *exec.Cmd, stderr *bytes.Buffer, stopped int) {
	t.Helper()
	cmd, stderr = demoCommand(dir), &bytes.Buffer{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(mostTime, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { overdue.Stop() })
	worker := regexp.MustCompile(`STOPPED by SIGSTOP \(process (\d+)\)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := worker.FindStringSubmatch(lines.Text()); found != nil {
			stopped, _ = strconv.Atoi(found[1])
			return cmd, stderr, stopped
		}
	}
	t.Fatalf("the demo stopped nobody: %v; standard error: %s", cmd.Wait(), stderr)
	return nil, nil, 0
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, stderr, stopped := startUntilStopped(t, dir)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_ = cmd.Wait()
	if took := time.Since(start); took > endTime {
		t.Errorf("took %v to end, want less than %v", took, endTime)
	}
	if got, want := cmd.ProcessState.ExitCode(), 1; got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
	if !strings.Contains(stderr.String(), "interrupt") {
		t.Errorf("standard error does not speak of an interrupt: %s", stderr)
	}
	if err := syscall.Kill(stopped, 0); err != syscall.ESRCH {
		t.Errorf("worker %d is left: %v", stopped, err)
	}
	mustBeEmpty(t, dir)
}

// A stopped worker cannot see that the demo is gone: the kernel has to end it.
func TestKilledDemoLeavesNoWorker(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
	cmd, _, stopped := startUntilStopped(t, t.TempDir())
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(endTime); !dead(stopped); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("worker %d is left %v after the demo was killed", stopped, endTime)
		}
	}
}

// dead also says yes to a process that only waits for somebody to reap it.
func dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return bytes.HasPrefix(state, []byte("Z")) || bytes.HasPrefix(state, []byte("X"))
}
