package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestFolderInUse(t *testing.T) {
	cfg := single(t)
	start(t, cfg)
	second := single(t)
	second.DataDir = cfg.DataDir
	began := time.Now()
	err := refused(t, t.Context(), second)
	if !errors.Is(err, cluster.ErrInUse) || !strings.Contains(err.Error(), cfg.DataDir) {
		t.Errorf("got %v, want ErrInUse and the folder", err)
	}
	if got := time.Since(began); got > atOnce {
		t.Errorf("refused after %v, want at once", got)
	}
}

// Another tool may hold the database and know nothing of the lock file; etcd
// would wait for it without end.
func TestDatabaseInUse(t *testing.T) {
	cfg := single(t)
	shut(t, start(t, cfg))
	db, err := bbolt.Open(database(cfg), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := refused(t, t.Context(), cfg); !errors.Is(err, cluster.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if got := time.Since(began); got > atOnce {
		t.Errorf("refused after %v, want at once", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
}

func database(cfg cluster.Config) string { return filepath.Join(cfg.DataDir, "member", "snap", "db") }

// Starts on the folder of m0, a single node, that it must refuse.
func TestForeignFolder(t *testing.T) {
	cfg := single(t)
	shut(t, start(t, cfg))
	named := cfg
	named.Name, named.InitialCluster = "other", nil
	three := clustertest.Configs(t, clustertest.Config{})[0] // m0 too
	three.DataDir = cfg.DataDir
	for name, foreign := range map[string]cluster.Config{"another name": named, "another cluster": three} {
		err := refused(t, t.Context(), foreign)
		if !errors.Is(err, cluster.ErrForeignFolder) || !strings.Contains(err.Error(), "use") {
			t.Errorf("%s: got %v, want ErrForeignFolder and what to do", name, err)
		}
	}
	if err := os.Remove(filepath.Join(cfg.DataDir, "member.json")); err != nil {
		t.Fatal(err)
	}
	if err := refused(t, t.Context(), cfg); !errors.Is(err, cluster.ErrForeignFolder) {
		t.Errorf("etcd's data without member.json: got %v, want ErrForeignFolder", err)
	}
}

// A folder in which nothing has run yet may be started under another name.
func TestNameCorrected(t *testing.T) {
	cfg := single(t)
	wrong := cfg
	wrong.Name, wrong.InitialCluster = "typo", nil
	wrong.ListenClient = []string{"192.0.2.1:1"} // TEST-NET: nobody has it
	wrong.AdvertiseClient = cfg.ListenClient
	refused(t, t.Context(), wrong)
	start(t, cfg)
}

// Nothing that lies in the folder makes Start panic, hang or end the process.
func TestDamagedFolder(t *testing.T) {
	for _, damage := range []struct {
		name string
		do   func(cfg cluster.Config) error
	}{
		{"database overwritten", func(cfg cluster.Config) error {
			return os.WriteFile(database(cfg), []byte(strings.Repeat("no database ", 10000)), 0o600)
		}},
		{"database pages overwritten", func(cfg cluster.Config) error { return scribble(database(cfg), 2*4096, 20*4096) }},
		{"log overwritten", func(cfg cluster.Config) error {
			logs, err := filepath.Glob(filepath.Join(cfg.DataDir, "member", "wal", "*.wal"))
			return errors.Join(err, scribble(logs[0], 100, 4096))
		}},
	} {
		t.Run(damage.name, func(t *testing.T) {
			cfg := single(t)
			cfg.StartTimeout = 5 * time.Second
			shut(t, start(t, cfg))
			if err := damage.do(cfg); err != nil {
				t.Fatal(err)
			}
			t.Log(refused(t, t.Context(), cfg))
		})
	}
}

// scribble overwrites length bytes from offset on.
func scribble(path string, offset int64, length int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(strings.Repeat("garbage!", length/8)), offset)
	return errors.Join(err, f.Close())
}
