package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// A bar on a terminal, and what was saved on standard output.
func TestSnapshotSaveShowsProgress(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	etcd := cluster.Client(t)
	for i := range 20 {
		if _, err := etcd.Put(testContext(t), fmt.Sprint(i), strings.Repeat("x", 64<<10)); err != nil {
			t.Fatal(err)
		}
	}
	master, slave := terminal(t)
	cmd := asProcess(t.Context(), t, nil, "snapshot", "save", filepath.Join(t.TempDir(), "s.db"), "--endpoints", cluster.Endpoint(0), "-o", "json")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, slave
	err := cmd.Run()
	slave.Close()
	if err != nil {
		t.Fatal(err)
	}
	shown := make([]byte, 64<<10)
	n, _ := master.Read(shown)
	if want := "saving from " + cluster.Endpoint(0); !strings.Contains(string(shown[:n]), want) || !strings.Contains(string(shown[:n]), "%") {
		t.Errorf("got %q on the terminal, want a bar with %q", shown[:n], want)
	}
	if made := decode(t, out.String()).(map[string]any); made["keys"] != 20.0 {
		t.Errorf("got %v, want 20 keys", made)
	}
}

// terminal opens a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}
