//go:build linux

package world

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/test/chaos/history"

	"github.com/fencelock/fencelock/test/testbinary"
)

// testTime bounds what a test waits for.
const testTime = time.Minute

func options(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	return Options{Folder: t.TempDir(), Clients: 2, Binary: testbinary.Path(), Self: []string{self}, Output: t.Output()}
}

func newWorld(t *testing.T) *World {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	w, err := New(ctx, options(t))
	must(t, err)
	t.Cleanup(func() {
		must(t, w.Close())
		must(t, w.Close())
		leavesNothing(t)
	})
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bounded is a ctx for one step of a test.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	t.Cleanup(cancel)
	return ctx
}

// One world serves all: it takes seconds to make.
func TestWorld(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name  string
		needs []string
		test  func(*testing.T, *World)
	}{
		{"clients live, end and are finished", nil, clientsLive},
		{"facts", nil, factsAreRead},
		{"a cut has a direction and is undone", []string{"namespaces"}, cutOneWay},
		{"packets are lost, reset and slowed", []string{"namespaces"}, filtersAreUndone},
		{"a power cut loses what was not synced", []string{"loop"}, powerCut},
		{"a disk is full until it is freed", []string{"loop"}, fullDisk},
		{"a member goes on behind its disk's copy", []string{"loop"}, memberPowerCut},
		{"a member is replaced", nil, replaceMember},
		{"PostgreSQL and Redis are cut, paused and stopped", nil, cutResource},
		{"fsync fails while it is traced", []string{"strace"}, tracedMember},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, need := range c.needs {
				if !w.Has(need) {
					t.Skip("no " + need + " here")
				}
			}
			c.test(t, w)
		})
	}
}

func clientsLive(t *testing.T, w *World) {
	c := w.Clients[0]
	must(t, c.Start())
	if err := c.Start(); !errors.Is(err, errRunning) {
		t.Errorf("started twice: %v", err)
	}
	awaitText(t, &c.Process, "client c1.1")
	must(t, c.Pause())
	must(t, c.Kill())
	must(t, c.Start())
	awaitText(t, &c.Process, "client c1.2")
	must(t, c.Pause())
	must(t, c.Finish(bounded(t)))
	last, err := w.Final(bounded(t))
	must(t, err)
	ops, err := history.Read(append(c.Histories(), last)...)
	must(t, err)
	if len(ops) != 3 || ops[0].Client != "c1.1" || ops[1].Client != "c1.2" || ops[2].Client != "c0.1" {
		t.Errorf("operations %+v, want one of c1.1, c1.2 and c0.1", ops)
	}
	if got, want := ops[0].Key, fmt.Sprint([]string{w.Links[0].Addr(), w.Links[1].Addr(), w.Links[2].Addr()}); got != want {
		t.Errorf("endpoints %s, want the proxies, %s", got, want)
	}
}

// awaitText waits for a process to say something.
func awaitText(t *testing.T, p *Process, text string) {
	t.Helper()
	eventually(t, func() error {
		if said := p.Text(); !strings.Contains(said, text) {
			return fmt.Errorf("it says %q, want %q", said, text)
		}
		return nil
	})
}

// eventually waits until an attempt succeeds.
func eventually(t *testing.T, attempt func() error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var err error
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); <-tick.C {
		if err = attempt(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

func factsAreRead(t *testing.T, w *World) {
	ctx := bounded(t)
	lease, err := w.Etcd().Grant(ctx, 60)
	must(t, err)
	_, err = w.Etcd().Put(ctx, lockPrefix+"a/@/1-1", "", clientv3.WithLease(lease.ID))
	must(t, err)
	f, err := w.Facts(ctx)
	must(t, err)
	if len(f.Claims) != 1 || f.Leases != 1 || len(f.Members) != size {
		t.Errorf("facts %+v, want one claim, one lease and three members", f)
	}
	for _, m := range f.Members {
		if m.Hash != f.Members[0].Hash || m.Hash == 0 || m.Files < 10 || m.Goroutines < 10 {
			t.Errorf("facts of a member %+v, want files, goroutines and the hash of all", m)
		}
	}
	out, err := w.CLI(ctx, "locks", "-o", "json")
	must(t, err)
	if !strings.Contains(out, `"a"`) {
		t.Errorf("locks: %s, want a", out)
	}
	_, err = w.Etcd().Revoke(ctx, lease.ID)
	must(t, err)
}

// memberPowerCut: what a member has acknowledged outlives a power cut.
func memberPowerCut(t *testing.T, w *World) {
	ctx := bounded(t)
	m, err := w.Follower(ctx, rand.New(rand.NewPCG(1, 2)))
	must(t, err)
	_, err = w.Etcd().Put(ctx, "kept", "1")
	must(t, err)
	must(t, m.Pause())
	must(t, m.Disk.Copy())
	must(t, m.Kill())
	must(t, m.Disk.Restore())
	must(t, m.Start(ctx))
	must(t, w.Settle(ctx))
	if _, err := w.Facts(ctx); err != nil {
		t.Error(err)
	}
}

// tracedMember: a member whose disk fails ends, and starts again without the trace.
func tracedMember(t *testing.T, w *World) {
	ctx := bounded(t)
	m, err := w.Follower(ctx, rand.New(rand.NewPCG(3, 4)))
	must(t, err)
	undo, err := m.Trace("-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO")
	must(t, err)
	go func() { _, _ = w.Etcd().Put(ctx, "kept", "2") }()
	select {
	case <-m.Ended():
	case <-ctx.Done():
		t.Error("a member whose fsync fails goes on")
	}
	must(t, undo())
	must(t, m.Kill())
	must(t, m.LaunchUnder([]string{"strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"}))
	must(t, m.Ready(ctx))
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", m.Pid()))
	if must(t, err); exe != testbinary.Path() {
		t.Errorf("the process is %s, want the member itself", exe)
	}
	must(t, m.Terminate(ctx))
	must(t, m.Start(ctx))
	must(t, w.Settle(ctx))
}

// powerCut: a synced file is in the copy, one that was only written is not.
func powerCut(t *testing.T, w *World) {
	d, err := w.disk("cut")
	must(t, err)
	write := func(name string, sync bool) {
		f, err := os.Create(filepath.Join(d.Dir(), name))
		must(t, err)
		defer f.Close()
		_, err = f.WriteString("text")
		must(t, err)
		if sync {
			must(t, f.Sync())
		}
	}
	write("synced", true)
	write("written", false)
	must(t, d.Copy())
	must(t, d.Restore())
	if text, err := os.ReadFile(filepath.Join(d.Dir(), "synced")); err != nil || string(text) != "text" {
		t.Errorf("the synced file has %q, %v", text, err)
	}
	if text, _ := os.ReadFile(filepath.Join(d.Dir(), "written")); string(text) == "text" {
		t.Error("what was not synced outlived the power cut")
	}
	must(t, d.Wipe())
	if entries, err := os.ReadDir(d.Dir()); err != nil || len(entries) != 0 {
		t.Errorf("wiped: %v, %v", entries, err)
	}
}

func fullDisk(t *testing.T, w *World) {
	d, err := w.disk("full")
	must(t, err)
	free, err := d.Fill()
	must(t, err)
	path := filepath.Join(d.Dir(), "file")
	if err := os.WriteFile(path, make([]byte, 2<<20), 0o600); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("2 MiB on a full disk: %v", err)
	}
	if err := os.WriteFile(path, make([]byte, 1<<19), 0o600); err != nil {
		t.Errorf("512 KiB on a disk with 1 MiB: %v", err)
	}
	must(t, free())
	must(t, free())
	must(t, os.WriteFile(path, make([]byte, 2<<20), 0o600))
}
