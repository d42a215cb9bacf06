package clock

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program tells, for each line that it reads, the wall clock and the time since its
// start, in nanoseconds.
const program = `package main

import (
	"bufio"
	"os"
	"strconv"
	"time"
)

func main() {
	start := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		now := strconv.FormatInt(time.Now().UnixNano(), 10)
		since := strconv.FormatInt(int64(time.Since(start)), 10)
		os.Stdout.WriteString(now + " " + since + "\n")
	}
}
`

func TestClockJumpsAndTimeGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library anew")
	}
	dir := t.TempDir()
	overlay, err := Overlay(dir)
	if err != nil {
		t.Fatal(err)
	}
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	c, err := New(dir, "p")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), c.Env("p")...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewReader(out)
	for _, fast := range []time.Duration{0, time.Hour, -time.Hour, 1500 * time.Millisecond, -500 * time.Millisecond, 0} {
		if err := c.Set("p", fast); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		fmt.Fprintln(in)
		var wall, since int64
		if _, err := fmt.Fscan(replies, &wall, &since); err != nil {
			t.Fatal(err)
		}
		if right := time.Unix(0, wall).Add(-fast); right.Before(before.Round(0)) || right.After(time.Now().Round(0)) {
			t.Errorf("the clock says %v, want it to be fast by %v", time.Unix(0, wall), fast)
		}
		if got := time.Duration(since); got < 0 || got > time.Minute {
			t.Errorf("set to be fast by %v: %v since the start", fast, got)
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
