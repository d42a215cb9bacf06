//go:build linux

package world

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fencelock/fencelock/test/testbinary"
)

// leftovers is what a process's worlds have left in the machine.
func leftovers(pid int) error {
	var left []string
	names, _ := filepath.Glob(fmt.Sprintf("/run/netns/%s%d-*", namespacePrefix, pid))
	left = append(left, names...)
	names, _ = filepath.Glob(fmt.Sprintf("/sys/class/net/%s%d-*", namespacePrefix, pid))
	left = append(left, names...)
	folder := fmt.Sprintf("/%s%d-", FolderPrefix, pid)
	for _, m := range mounts() {
		if strings.Contains(m.at, folder) {
			left = append(left, m.at)
		}
	}
	images, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, image := range images {
		if text, _ := os.ReadFile(image); strings.Contains(string(text), folder) {
			left = append(left, image)
		}
	}
	for _, in := range []string{memory, os.TempDir()} {
		names, _ = filepath.Glob(in + folder + "*")
		left = append(left, names...)
	}
	if len(left) != 0 {
		return fmt.Errorf("left: %q", left)
	}
	return nil
}

// children is the processes that this one has started.
func children(t *testing.T) (pids []string) {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children")
	must(t, err)
	for _, path := range threads {
		text, _ := os.ReadFile(path) // a thread may just have ended
		pids = append(pids, strings.Fields(string(text))...)
	}
	return pids
}

// leavesNothing is for the end of a test, when its world is closed.
func leavesNothing(t *testing.T) {
	t.Helper()
	if pids := children(t); len(pids) != 0 {
		t.Errorf("processes left: %v", pids)
	}
	eventually(t, func() error { return leftovers(os.Getpid()) }) // the kernel detaches loop devices by and by
}

// cancelAt ends a context when a line is written.
type cancelAt struct {
	line   string
	cancel context.CancelFunc
}

func (c cancelAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.line) {
		c.cancel()
	}
	return len(b), nil
}

// A world that is given up half-way is removed.
func TestGivenUp(t *testing.T) {
	for _, step := range []string{"disks", "members"} {
		ctx, cancel := context.WithCancel(t.Context())
		o := options(t)
		o.Output = cancelAt{step, cancel}
		if w, err := New(ctx, o); err == nil {
			t.Errorf("given up at %s: a world", step)
			must(t, w.Close())
		}
		cancel()
		leavesNothing(t)
	}
	o := options(t)
	o.Binary = "/bin/false"
	if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), "m1 has ended, exit code 1") {
		t.Errorf("members that end at once: %v", err)
	}
	leavesNothing(t)
}

// hold is the life of a run that is killed.
func hold() (code int) {
	w, err := New(context.Background(), Options{Folder: os.Args[2], Clients: 1, Binary: testbinary.Path(), Self: []string{os.Args[0]}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if err := w.Clients[0].Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	pids := []int{w.Clients[0].Pid()}
	for _, m := range w.Members {
		pids = append(pids, m.Pid())
	}
	fmt.Println("pids", pids)
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed, or its parent is gone
	_ = w.Close()
	return 1
}

// A run that is killed leaves no process, and the next one removes the rest.
func TestKilledRun(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	run := exec.Command(self, "hold", t.TempDir())
	_, err = run.StdinPipe()
	must(t, err)
	out, err := run.StdoutPipe()
	must(t, err)
	must(t, run.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	must(t, run.Process.Kill())
	_ = run.Wait()
	if !strings.HasPrefix(line, "pids") {
		t.Fatalf("it says %q", line)
	}
	pids := strings.Fields(strings.Trim(line, "pids []\n"))
	eventually(t, func() error {
		for _, text := range pids {
			pid, err := strconv.Atoi(text)
			must(t, err)
			if err := syscall.Kill(pid, 0); err == nil {
				return fmt.Errorf("process %d is left", pid)
			}
		}
		return nil
	})
	if leftovers(run.Process.Pid) == nil {
		t.Error("nothing to sweep: the test shows nothing")
	}
	sweep()
	eventually(t, func() error { return leftovers(run.Process.Pid) })
}
