//go:build linux

package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/servers"
)

// clientMode makes this test program a client process, as `chaos client` is one.
const clientMode = "traffic-client"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == clientMode {
		if err := beClient(os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	clustertest.Main(m)
}

func beClient(input io.Reader) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var cfg Config
	if err := json.NewDecoder(input).Decode(&cfg); err != nil {
		return err
	}
	return Main(ctx, cfg)
}

// limit is how long any step may take on a loaded machine under -race.
const limit = 90 * time.Second

// scene is a cluster, its stores, and the client processes.
type scene struct {
	t         *testing.T
	cluster   *clustertest.Cluster
	postgres  *servers.Server
	redis     *servers.Server
	template  Config
	histories []string
	clients   []*exec.Cmd
	follower  *history.Follower
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		t:        t,
		cluster:  clustertest.Start(t, 3),
		postgres: servers.StartPostgres(t),
		redis:    servers.StartRedis(t),
		follower: history.NewFollower(),
	}
	s.template = Config{
		Endpoints: s.cluster.Endpoints(),
		TTL:       2 * time.Second,
		Seed:      1,
		Targets:   history.Targets(),
		Workloads: history.Workloads(),
		Postgres:  s.postgres.DSN("postgres"),
		Redis:     s.redis.DSN("0"),
		Folder:    t.TempDir(),
		Think:     20 * time.Millisecond,
		Pause:     300 * time.Millisecond,
	}
	return s
}

// start runs a client process, which ends with the test.
func (s *scene) start(name string, final bool) *exec.Cmd {
	s.t.Helper()
	cfg := s.template
	cfg.Client, cfg.Final = name, final
	cfg.History = filepath.Join(s.t.TempDir(), name)
	input, err := json.Marshal(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], clientMode)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.histories = append(s.histories, cfg.History)
	s.clients = append(s.clients, cmd)
	return cmd
}

// await reads the histories until they are as wanted.
func (s *scene) await(what string, enough func([]history.Op) bool) {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); ; <-tick.C {
		var there []string
		for _, path := range s.histories {
			if _, err := os.Stat(path); err == nil {
				there = append(there, path)
			}
		}
		if err := s.follower.Poll(there, func(history.Op) {}); err != nil {
			s.t.Fatal(err)
		}
		if enough(s.follower.Ops()) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waited %v in vain for %s; acknowledged writes: %v", limit, what, acknowledged(s.follower.Ops()))
		}
	}
}

// terminate ends all clients in good order.
func (s *scene) terminate() {
	s.t.Helper()
	for _, cmd := range s.clients {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			s.t.Error(err)
		}
	}
	for _, cmd := range s.clients {
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("client process: %v", err)
		}
	}
}

// ops is all that was done.
func (s *scene) ops() []history.Op {
	s.t.Helper()
	ops, err := history.Read(s.histories...)
	if err != nil {
		s.t.Fatal(err)
	}
	return ops
}
