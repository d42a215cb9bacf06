package filefence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
)

// At no step is there an empty side file, and none at which somebody else can
// create one too.
func TestSideFileIsCreatedWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	f, other := open(t, filefence.Config{Path: path}), open(t, filefence.Config{Path: path})
	f.OnStep(func(step string) {
		if text, err := os.ReadFile(path + ".fence"); err == nil && len(text) == 0 {
			t.Errorf("before %q the side file is empty", step)
		}
		if step == "create .fence.new" || step == "lock .fence.new" {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := other.Read(ctx, seq(3)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before %q: got %v, want DeadlineExceeded", step, err)
		}
	})
	mustWrite(t, f, 2, "x")
	wantOnly(t, filepath.Dir(path), "report", "report.fence")
}

// Whoever found no side file, and was then overtaken by a whole operation, takes
// the one that is there now.
func TestSideFileIsCreatedOnce(t *testing.T) {
	for _, at := range []string{"create .fence.new", "lock .fence.new"} {
		t.Run(at, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "report")
			late, newer := open(t, filefence.Config{Path: path}), open(t, filefence.Config{Path: path})
			overtake := sync.OnceFunc(func() { mustWrite(t, newer, 2, "newer") })
			late.OnStep(func(step string) {
				if step == at {
					overtake()
				}
			})
			if err := late.Write(t.Context(), seq(1), []byte("late")); !errors.Is(err, fencing.ErrStale) {
				t.Errorf("got %v, want ErrStale", err)
			}
			wantText(t, path, "newer")
			wantOnly(t, filepath.Dir(path), "report", "report.fence")
		})
	}
}

// What a dead creator left is in nobody's way, and goes.
func TestCreatorThatDied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	leave := func() {
		for _, suffix := range []string{".fence.new", ".fence.tmp"} {
			if err := os.WriteFile(path+suffix, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	f := open(t, filefence.Config{Path: path})
	for token := range fencing.Token(2) { // before there is a side file, and after
		leave()
		mustWrite(t, f, token+1, "x")
		wantOnly(t, filepath.Dir(path), "report", "report.fence")
	}
}

// A side file that cannot be written whole is not there at all.
func TestSideFileThatCannotBeCreated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	if err := os.MkdirAll(path+".fence.tmp/full", 0o700); err != nil {
		t.Fatal(err)
	}
	f := open(t, filefence.Config{Path: path})
	if err := f.Write(t.Context(), seq(1), []byte("x")); err == nil {
		t.Error("wrote without a fence")
	}
	wantOnly(t, filepath.Dir(path), "report.fence.tmp")
	if err := os.RemoveAll(path + ".fence.tmp"); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, f, 1, "x")
}

func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	var got []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if err != nil || strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %q, %v, want %q", got, err, names)
	}
}

const (
	raceVariable = "FILEFENCE_TEST_RACE"
	racedFiles   = 20
)

// Processes that create the side file at once lock one and the same: had two of
// them locked different ones, an appended line would be lost.
func TestProcessesThatCreateAtOnce(t *testing.T) {
	if path := os.Getenv(raceVariable); path != "" {
		race(t, path)
		return
	}
	const processes = 3
	dir := t.TempDir()
	var starts []io.Closer
	var racers []*exec.Cmd
	for range processes {
		racer := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		racer.Env = append(racer.Environ(), raceVariable+"="+dir)
		racer.Stdout, racer.Stderr = t.Output(), t.Output()
		start, err := racer.StdinPipe()
		if err == nil {
			err = racer.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		starts, racers = append(starts, start), append(racers, racer)
	}
	for _, start := range starts {
		start.Close()
	}
	for _, racer := range racers {
		if err := racer.Wait(); err != nil {
			t.Errorf("a process that races: %v", err)
		}
	}
	for i := range racedFiles {
		wantText(t, filepath.Join(dir, fmt.Sprint(i)), strings.Repeat("line\n", processes))
	}
}

// race appends to each file, from the end of its input on.
func race(t *testing.T, dir string) {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}
	for i := range racedFiles {
		f := open(t, filefence.Config{Path: filepath.Join(dir, fmt.Sprint(i))})
		if err := f.Append(t.Context(), seq(1), []byte("line\n")); err != nil {
			t.Error(err)
		}
	}
}
