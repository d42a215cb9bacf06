package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// A member whose data differs from the others' does not serve it.
func TestCorruptMember(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	const value, other = "the holder's work", "another's rubbish"
	put(t, c.Client(t), "k", value)
	i := (c.Leader(t.Context()) + 1) % 3
	if err := c.Members[i].Ready(t.Context()); err != nil { // it has applied the put
		t.Fatal(err)
	}
	c.Stop(i)
	cfg := c.Config(i)
	if err := replaceValue(database(cfg), value, other); err != nil {
		t.Fatal(err)
	}
	err := refused(t, t.Context(), cfg)
	if !strings.Contains(err.Error(), "inconsistency with peers") {
		t.Errorf("got %v, want an inconsistency", err)
	}
	if err := replaceValue(database(cfg), other, value); err != nil {
		t.Fatal(err)
	}
	c.Restart(i)
}

// replaceValue changes a value behind etcd's back.
func replaceValue(path, from, to string) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		keys := tx.Bucket([]byte("key"))
		c := keys.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if bytes.Contains(v, []byte(from)) {
				return keys.Put(bytes.Clone(k), bytes.Replace(v, []byte(from), []byte(to), 1))
			}
		}
		return fmt.Errorf("no value %q", from)
	})
	return errors.Join(err, db.Close())
}

// etcd answers to a log that is locked with log.Fatal, which would end the
// process. It goes wrong in a process of its own all the same: what etcd had
// opened by then stays open.
func TestFatalStart(t *testing.T) {
	const variable = "FENCELOCK_TEST_FATAL"
	if dir := os.Getenv(variable); dir != "" {
		cfg := cluster.Config{
			Name:         "m0",
			DataDir:      dir,
			ListenClient: []string{os.Getenv(variable + "_CLIENT")},
			ListenPeer:   []string{os.Getenv(variable + "_PEER")},
		}
		fmt.Printf("refused: %v\n", refused(t, t.Context(), cfg))
		os.Exit(0)
	}
	cfg := single(t)
	shut(t, start(t, cfg))
	lockLog(t, cfg)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFatalStart$")
	cmd.Env = append(os.Environ(), variable+"="+cfg.DataDir,
		variable+"_CLIENT="+cfg.ListenClient[0], variable+"_PEER="+cfg.ListenPeer[0])
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "failed to open WAL") {
		t.Errorf("got %v and %s, want an error of Start", err, out)
	}
}

// lockLog locks the write-ahead log as another etcd would.
func lockLog(t *testing.T, cfg cluster.Config) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(cfg.DataDir, "member", "wal", "*.wal"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log: %v", err)
	}
	f, err := fileutil.TryLockFile(logs[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
}
