package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// asProcess is this program as a process of its own.
func asProcess(ctx context.Context, t *testing.T, before []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := append(append(before, self), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "FENCELOCK_TEST_MAIN=1")
	return cmd
}

// left lists what is in a folder; one that is missing has nothing.
func left(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestSnapshot(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c, dir := at(cluster.Endpoints()...), t.TempDir()
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "a/b")
	if _, err := held.KV().Put(testContext(t), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "s.db")
	made := decode(t, c.run("snapshot", "save", file, "-o", "json").want(t, codeOK).stdout).(map[string]any)
	if made["path"] != file || made["locks"] != 1.0 || made["fences"] != 1.0 || made["keys"] != 3.0 {
		t.Errorf("got %v, want 1 lock, 1 fence, 3 keys in %s", made, file)
	}
	c.run("snapshot", "save", file).want(t, codeFailure, "exists already", "--force")
	made = decode(t, c.run("snapshot", "save", file, "--force", "-o", "json").want(t, codeOK).stdout).(map[string]any)
	c.run("snapshot", "save", dir).want(t, codeFailure, "is not a file")
	if got := left(t, dir); got != "s.db" {
		t.Errorf("got %q in the folder, want only the snapshot", got)
	}
	alone := at(deadEndpoint(t))
	checked := decode(t, alone.run("snapshot", "verify", file, "-o", "json").want(t, codeOK).stdout).(map[string]any)
	if checked["sha256"] != made["sha256"] || checked["revision"] != made["revision"] {
		t.Errorf("verify: got %v, want what save has said: %v", checked, made)
	}
	if got := alone.run("snapshot", "verify", file).want(t, codeOK).stdout; !strings.Contains(got, "REVISION") {
		t.Errorf("got %q, want a table", got)
	}
	alone.run("snapshot", "verify", filepath.Join(dir, "none")).want(t, codeFailure, "no such file")
	alone.run("snapshot", "verify", os.Args[0]).want(t, codeFailure, "does not begin like a database")
	alone.with("FENCELOCK_CLIENT_DIAL_TIMEOUT=200ms").run("snapshot", "save", filepath.Join(dir, "t.db")).
		want(t, codeFailure, "read the cluster's revision", "majority")
}

// What the command prints for the other hosts makes the same bytes there.
func TestSnapshotRestorePrintsTheOtherCommands(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c, dir := at(cluster.Endpoints()...), t.TempDir()
	t.Chdir(dir)
	c.run("snapshot", "save", "s.db").want(t, codeOK)
	first := decode(t, c.run("snapshot", "restore", "s.db", "--data-dir", "m 1", "-o", "json", "--peers", "a:1,b:1,c:1").want(t, codeOK).stdout).(map[string]any)
	if want := "fencelock server --data-dir 'm 1' --peers a:1,b:1,c:1"; first["start"] != want {
		t.Errorf("got %q to start with, want %q", first["start"], want)
	}
	words := strings.Fields(strings.ReplaceAll(first["others"].(string), "'m 1'", "m2"))
	if words[0] != "fencelock" || !strings.Contains(first["others"].(string), "'m 1'") {
		t.Errorf("got the command %q", first["others"])
	}
	second := decode(t, c.run(append(words[1:], "-o", "json")...).want(t, codeOK).stdout).(map[string]any)
	if first["sha256"] != second["sha256"] || first["floor"] != second["floor"] {
		t.Errorf("got %v and %v, want the same", first, second)
	}
	text := c.run("snapshot", "restore", "s.db", "--data-dir", "m3", "--floor", "5000000000").want(t, codeOK).stdout
	for _, want := range []string{"above 5000000000", "snapshot restore s.db --data-dir m3 --floor 5000000000", "fencelock server --data-dir m3"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want it to contain %q", text, want)
		}
	}
	c.run("snapshot", "restore", "s.db", "--data-dir", "m3").want(t, codeFailure, "not empty", "origin.db", "--data-dir")
	c.run("snapshot", "restore", "s.db", "--data-dir", "m4", "--floor", "1").want(t, codeFailure, "must be above")
	c.run("snapshot", "restore", "s.db", "--data-dir", "m4", "--floor", "0").want(t, codeUsage, "--floor 0")
	c.run("snapshot", "restore", "none", "--data-dir", "m4").want(t, codeFailure, "no such file")
	c.run("snapshot", "restore", "s.db", "--data-dir", "/proc/fencelock").want(t, codeFailure, "/proc/fencelock")
	if got, want := left(t, dir), "m 1 m2 m3 s.db"; got != want {
		t.Errorf("got %q in the folder, want %q", got, want)
	}
}

// large is a snapshot of about 6 MB.
func large(t *testing.T) string {
	t.Helper()
	cluster := clustertest.Start(t, 1)
	etcd := cluster.Client(t)
	value := strings.Repeat("x", 64<<10)
	for i := range 100 {
		if _, err := etcd.Put(testContext(t), fmt.Sprint(i), value); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "s.db")
	at(cluster.Endpoints()...).run("snapshot", "save", file).want(t, codeOK)
	return file
}

// A restore that is killed leaves what no member starts from, or all of it; and
// the same command makes it whole.
func TestSnapshotRestoreKilled(t *testing.T) {
	file, dir := large(t), t.TempDir()
	began := time.Now()
	if out, err := asProcess(t.Context(), t, nil, "snapshot", "restore", file, "--data-dir", filepath.Join(dir, "whole")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole, killed := time.Since(began), 0
	const rounds = 20
	for i := range rounds {
		folder := filepath.Join(dir, fmt.Sprint(i))
		restore := []string{"snapshot", "restore", file, "--data-dir", folder}
		ctx, cancel := context.WithTimeout(t.Context(), whole*time.Duration(i+1)/rounds)
		err := asProcess(ctx, t, nil, restore...).Run() // SIGKILL at the end of ctx
		cancel()
		if err != nil {
			killed++
		}
		got := left(t, folder)
		if got == "origin.db origin.json" {
			at().run(restore...).want(t, codeFailure, "not empty")
			continue
		}
		if slices.Contains(strings.Fields(got), "origin.db") {
			t.Errorf("killed after %d of %d parts: left %q, a database without its origin", i+1, rounds, got)
		}
		at().run(restore...).want(t, codeOK)
		if got, want := left(t, folder), "origin.db origin.json"; got != want {
			t.Errorf("restored again: got %q, want %q", got, want)
		}
	}
	if killed == 0 {
		t.Errorf("no restore was killed in %d rounds of up to %v", rounds, whole)
	}
}

// onSmallDisk runs the program with dir on a file system of 2 MB, in a mount
// namespace of its own, and returns its output, exit code and what it left there.
func onSmallDisk(t *testing.T, dir string, args ...string) (output string, code int, rest string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "unshare", "-rm", "true").Run(); err != nil {
		t.Skipf("makes a small file system in a mount namespace, and cannot have one: %v", err)
	}
	const script = `mount -t tmpfs -o size=2m tmpfs "$1" && shift && "$@"; code=$?; echo; echo "left: $(ls -A "$DISK")"; exit $code`
	cmd := asProcess(t.Context(), t, []string{"unshare", "-rm", "sh", "-c", script, "sh", dir}, args...)
	cmd.Env = append(cmd.Env, "DISK="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	output, rest, _ = strings.Cut(string(out), "\nleft: ")
	return output, cmd.ProcessState.ExitCode(), strings.TrimSpace(rest)
}

func TestSnapshotOnAFullDisk(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	etcd := cluster.Client(t)
	for i := range 60 {
		if _, err := etcd.Put(testContext(t), fmt.Sprint(i), strings.Repeat("x", 64<<10)); err != nil {
			t.Fatal(err)
		}
	}
	file, disk := filepath.Join(t.TempDir(), "s.db"), t.TempDir()
	at(cluster.Endpoints()...).run("snapshot", "save", file).want(t, codeOK)
	for _, args := range [][]string{
		{"snapshot", "restore", file, "--data-dir", disk},
		{"snapshot", "restore", file, "--data-dir", filepath.Join(disk, "new")},
		{"snapshot", "save", filepath.Join(disk, "s.db"), "--endpoints", cluster.Endpoint(0)},
	} {
		output, code, rest := onSmallDisk(t, disk, args...)
		if code != codeFailure || !strings.Contains(output, "no space left on device") || rest != "" {
			t.Errorf("%v: exit code %d, %q, left %q; want %d, no space, nothing left", args, code, output, rest, codeFailure)
		}
	}
}

// Of several endpoints, one that is cut off is passed over.
func TestSnapshotSavePassesOverACutOffMember(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	cluster.Isolate(0)
	resp, err := cluster.MemberClient(t, 1).Put(testContext(t), "k", "v")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	alone := at(cluster.Endpoint(0)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=1s")
	alone.run("snapshot", "save", filepath.Join(dir, "s.db")).want(t, codeFailure, "read the cluster's revision")
	if got := left(t, dir); got != "" {
		t.Errorf("left %q", got)
	}
	made := decode(t, at(cluster.Endpoints()...).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=2s").
		run("snapshot", "save", filepath.Join(dir, "s.db"), "-o", "json").want(t, codeOK).stdout).(map[string]any)
	if got, want := made["revision"], fmt.Sprint(resp.Header.Revision); got != want {
		t.Errorf("got revision %v, want %v", got, want)
	}
	cluster.Heal(0)
}

// A process that is stopped by SIGTERM says so, and leaves nothing.
func TestSnapshotSaveInterrupted(t *testing.T) {
	dir := t.TempDir()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cmd := asProcess(t.Context(), t, nil, "snapshot", "save", filepath.Join(dir, "s.db"), "--endpoints", silent.Addr().String(), "--dial-timeout", "1m")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != codeFailure || !strings.Contains(out.String(), "interrupted") || left(t, dir) != "" {
		t.Errorf("exit code %d, %q, left %q; want %d, interrupted, nothing", cmd.ProcessState.ExitCode(), out.String(), left(t, dir), codeFailure)
	}
}

// Users and their rights are in the snapshot, and count after a restore as before.
func TestSnapshotOfAClusterWithUsers(t *testing.T) {
	old := clustertest.Start(t, 1)
	withUser(t, old, "secret")
	c, file := at(old.Endpoints()...), filepath.Join(t.TempDir(), "s.db")
	c.run("snapshot", "save", file).want(t, codeFailure, "user name is empty", "--user root")
	c.with("FENCELOCK_CLIENT_PASSWORD=secret").run("snapshot", "save", file, "--user", "root").want(t, codeOK)

	cfg := clustertest.Configs(t, clustertest.Config{Members: 1})[0]
	c.run("snapshot", "restore", file, "--data-dir", cfg.DataDir).want(t, codeOK)
	m, err := cluster.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Kill() }()
	again := at(cfg.ListenClient...)
	again.run("locks").want(t, codeFailure, "user name is empty")
	again.with("FENCELOCK_CLIENT_PASSWORD=wrong").run("locks", "--user", "root").want(t, codeFailure, "authentication failed")
	again.with("FENCELOCK_CLIENT_PASSWORD=secret").run("locks", "--user", "root").want(t, codeOK)
}
