//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A configuration that comes through a pipe, as from <(…), is read; one that never
// comes does not keep back a signal.
func TestConfigurationThroughAPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "config.yaml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"locks"}, {"watch"}, {"server"}, {"kv", "get", "g", "k", "--peek"}, {"lock", "x", "--", "true"}} {
		for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			p := startProcess(t, deadEndpoint(t), append([]string{"--config", fifo}, args...)...)
			closeFifo := awaitOpen(t, fifo)
			if err := p.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, _ = p.out.ReadString('\n')
			_ = p.cmd.Wait()
			closeFifo()
			if p.cmd.ProcessState.Success() || time.Since(began) > 10*time.Second {
				t.Errorf("%v: %v after %v, want it to end at once", args, p.cmd.ProcessState, time.Since(began))
			}
		}
	}
	p := startProcess(t, deadEndpoint(t), "--config", fifo, "version")
	if err := os.WriteFile(fifo, []byte("output: json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.line(); got != "{" {
		t.Errorf("printed %q, want JSON as the configuration says", got)
	}
	p.ends(codeOK)
}

// awaitOpen returns when somebody has the pipe open and waits for what comes: its
// other end can be opened without a wait then.
func awaitOpen(t *testing.T, fifo string) (closeFifo func()) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(testTime); ; <-ticker.C {
		fd, err := syscall.Open(fifo, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			return func() { syscall.Close(fd) } // closed now it would be the end of the file
		}
		if time.Now().After(end) {
			t.Fatalf("nobody opens %s: %v", fifo, err)
		}
	}
}
