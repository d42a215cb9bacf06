package filefence_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
)

const holdVariable = "FILEFENCE_TEST_HOLD"

// Another process keeps this one out while it is at work, and no longer than it lives.
func TestLockEndsWithItsProcess(t *testing.T) {
	if path := os.Getenv(holdVariable); path != "" {
		hold(t, path)
	}
	path := filepath.Join(t.TempDir(), "report")
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	other.Env = append(other.Environ(), holdVariable+"="+path)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "holding\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	f := open(t, filefence.Config{Path: path})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := f.Write(ctx, seq(2), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it lives: got %v, want DeadlineExceeded", err)
	}
	done := make(chan error)
	go func() { done <- f.Write(t.Context(), seq(2), []byte("mine")) }()
	_ = other.Process.Kill()
	_ = other.Wait()
	if err := <-done; err != nil {
		t.Errorf("when it is dead: %v", err)
	}
	wantText(t, path, "mine")
}

// hold locks the file and waits to be killed.
func hold(t *testing.T, path string) {
	f := open(t, filefence.Config{Path: path, Verify: func(context.Context, fencing.Sequencer) error {
		fmt.Println("holding")
		<-time.After(time.Hour)
		return nil
	}})
	_ = f.Write(context.Background(), seq(1), []byte("theirs"))
}
