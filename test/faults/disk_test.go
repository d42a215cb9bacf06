//go:build linux

// Disks that are lost, emptied or full.

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/chaos/world"
)

// wayOut is what a member on an empty folder names.
const wayOut = "member replace"

// loseDisk takes the folder of one member. Its command is refused, and names the
// way out, which works under load.
func loseDisk(t *testing.T, c *members, l *load) {
	i := c.follower(t)
	m := c.all[i]
	l.begin()
	c.kill(t, m)
	lose(t, m)
	if err := m.Launch(); err != nil {
		t.Fatal(err)
	}
	ends(t, &m.Process, 10*time.Second, 1, wayOut)
	var added struct{ Command string }
	out := finish(t, testTime, "member", "replace", m.Host.Address+":2380", "-o", "json", "--endpoints", strings.Join(c.endpoints(), ",")).want(t, 0).stdout
	if err := json.Unmarshal([]byte(out), &added); err != nil {
		t.Fatal(err)
	}
	m.SetCommand(append(strings.Fields(added.Command), "--data-dir", filepath.Join(t.TempDir(), "new")))
	c.start(t, m)
	l.await(20)
	c.kill(t, c.all[(i+1)%3]) // the successor counts
	l.await(20)
}

// wipeFirst kills all, takes the folder of one, and starts that one first, then the
// others. They go on; it is refused, and makes no second history.
func wipeFirst(t *testing.T, c *members, l *load) {
	l.begin()
	c.kill(t, c.all...)
	wiped := c.all[0]
	lose(t, wiped)
	if err := wiped.Launch(); err != nil {
		t.Fatal(err)
	}
	c.start(t, c.all[1:]...)
	ends(t, &wiped.Process, testTime, 1, wayOut)
	l.await(20)
}

// lose removes a member's folder, as a disk that was lost was never there.
func lose(t *testing.T, m *world.Member) {
	t.Helper()
	if err := os.RemoveAll(m.Disk.Dir()); err != nil {
		t.Fatal(err)
	}
}

// fillDisk lets the disk of the leader run full. It ends, and says why; the others
// go on. With room again, the same command goes on, too.
func fillDisk(t *testing.T, c *members, l *load) {
	m := c.all[c.leader(t)]
	l.await(20)
	free, err := m.Disk.Fill()
	if err != nil {
		t.Fatal(err)
	}
	l.begin()
	ballast := newClient(t, client.Config{Endpoints: c.endpoints()}).Etcd()
	for n := 0; n < 200 && m.Running(); n++ { // of 1 MiB, under few keys
		_, _ = ballast.Put(t.Context(), fmt.Sprintf("ballast/%d", n%100), strings.Repeat("x", 1<<20))
	}
	select {
	case <-m.Ended():
	case <-time.After(10 * time.Second):
		t.Fatalf("with a full disk, the leader goes on: %s", m.Text())
	}
	if m.Code() == 0 || !strings.Contains(m.Text(), "no space left on device") {
		t.Errorf("a full disk: exit code %d and %q, want a failure and the reason", m.Code(), m.Text())
	}
	t.Logf("exit code %d: %s", m.Code(), m.Text())
	l.await(20)
	if err := free(); err != nil {
		t.Fatal(err)
	}
	c.start(t, m)
}

// newDisk is unmounted when the test ends, if it is a file system of its own.
func newDisk(t *testing.T, folder, name string, image bool) *world.Disk {
	t.Helper()
	d, err := world.NewDisk(folder, name, image)
	if d != nil {
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	switch {
	case err != nil && image:
		t.Skip("no image can be mounted here:", err)
	case err != nil:
		t.Fatal(err)
	}
	return d
}
