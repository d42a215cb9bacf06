// Disks that are lost, emptied or full.

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
)

// loseDisk takes the folder of one member. Its command is refused, and names the
// way out, which works under load.
func loseDisk(t *testing.T, c *members, l *load) {
	i := c.follower(t)
	l.begin()
	c.running[i].kill()
	if err := os.RemoveAll(c.dirs[i]); err != nil {
		t.Fatal(err)
	}
	refused := start(t, c.command(t, i))
	if code, text := refused.code(t, 10*time.Second); code != 1 || !strings.Contains(text, "member replace") {
		t.Errorf("an empty folder: exit code %d and %q, want 1 and the way out", code, text)
	}
	var added struct{ Command string }
	out := c.run(t, i, testTime, "member", "replace", c.addresses[i]+":2380", "-o", "json", "--endpoints", strings.Join(c.endpoints(), ",")).want(t, 0).stdout
	if err := json.Unmarshal([]byte(out), &added); err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(added.Command)[1:], "--data-dir", filepath.Join(t.TempDir(), "new"))
	c.running[i] = start(t, command(t.Context(), c.prefixes[i], words...))
	c.running[i].ready(t)
	l.await(20)
	c.running[(i+1)%3].kill() // the successor counts
	l.await(20)
}

// wipeFirst kills all, takes the folder of one, and starts that one first, then the
// others. They go on; it is refused, and makes no second history.
func wipeFirst(t *testing.T, c *members, l *load) {
	l.begin()
	for _, p := range c.running {
		p.kill()
	}
	if err := os.RemoveAll(c.dirs[0]); err != nil {
		t.Fatal(err)
	}
	wiped := start(t, c.command(t, 0))
	for i := 1; i < len(c.running); i++ {
		c.restart(t, i)
	}
	for _, p := range c.running[1:] {
		p.ready(t)
	}
	if code, text := wiped.code(t, testTime); code != 1 || !strings.Contains(text, "member replace") {
		t.Errorf("the wiped member: exit code %d and %q, want 1 and the way out", code, text)
	}
	l.await(20)
}

// diskSize has room for the first two files of etcd's log, 64 MiB each, and for a
// small database.
const diskSize = 160 << 20

// fillDisk lets the disk of the leader run full. It ends, and says why; the others
// go on. With room again, the same command goes on, too.
func fillDisk(t *testing.T, c *members, l *load) {
	i := c.leader(t)
	l.await(20)
	hog := filepath.Join(filepath.Dir(c.dirs[i]), "hog")
	occupy(t, hog)
	l.begin()
	ballast := newClient(t, client.Config{Endpoints: c.endpoints()}).Etcd()
	for n := 0; ; n++ {
		select {
		case <-c.running[i].ended:
		default:
			if n < 200 { // of 1 MiB, under few keys
				_, _ = ballast.Put(t.Context(), fmt.Sprintf("ballast/%d", n%100), strings.Repeat("x", 1<<20))
				continue
			}
		}
		break
	}
	code, text := c.running[i].code(t, 10*time.Second)
	if code == 0 || !strings.Contains(text, "no space left on device") {
		t.Errorf("a full disk: exit code %d and %q, want a failure and the reason", code, text)
	}
	t.Logf("exit code %d: %s", code, text)
	l.await(20)
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	c.restart(t, i)
	c.running[i].ready(t)
}

// occupy takes all but 1 MiB of a disk.
func occupy(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunk := make([]byte, 1<<18)
	for err == nil {
		_, err = f.Write(chunk)
	}
	at, err := f.Seek(0, 1)
	if err != nil || at < 2<<20 {
		t.Fatalf("the disk had %d bytes left, %v", at, err)
	}
	if err := f.Truncate(at - 1<<20); err != nil {
		t.Fatal(err)
	}
}

// disk mounts a small one.
func disk(t *testing.T) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a disk needs root")
	}
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", diskSize), "fencelock-test", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}
