package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// ttl is how long a lock outlives its holder's last renewal; the least that members
// grant with their default settings.
const ttl = 2 * time.Second

// system is everything that runs.
type system struct {
	timeline *timeline
	dir      string
	cleanups []func()

	endpoints []string // of the cluster
	locks     *client.Client
	ledger    *ledger
	url       string // of the ledger
}

// close ends what was started, the last first.
func (s *system) close() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}

func (s *system) cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

// start starts everything but the replicas. What it has started is closed by close,
// after an error too.
func (s *system) start(ctx context.Context, postgres string) (err error) {
	if s.dir, err = os.MkdirTemp("", "payments-"); err != nil {
		return err
	}
	s.cleanup(func() { _ = os.RemoveAll(s.dir) })
	if err := s.startCluster(ctx); err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	if err := s.startLedger(ctx, postgres); err != nil {
		return fmt.Errorf("start the ledger: %w", err)
	}
	return nil
}

func (s *system) startCluster(ctx context.Context) error {
	addresses, err := freeAddresses(2)
	if err != nil {
		return err
	}
	member, err := cluster.Start(ctx, cluster.Config{
		DataDir:      filepath.Join(s.dir, "cluster"),
		ListenClient: addresses[:1],
		ListenPeer:   addresses[1:],
	})
	if err != nil {
		return err
	}
	s.cleanup(func() { _ = member.Close() })
	s.endpoints = member.ClientAddrs()
	if s.locks, err = client.New(client.Config{Endpoints: s.endpoints}); err != nil {
		return err
	}
	s.cleanup(func() { _ = s.locks.Close() })
	return nil
}

func (s *system) startLedger(ctx context.Context, postgres string) error {
	db, dialect, err := openDatabase(postgres, s.dir)
	if err != nil {
		return err
	}
	s.cleanup(func() { _ = db.Close() })
	// Verify: a token higher than any before is believed only if the cluster knows it.
	fence, err := sqlfence.New(sqlfence.Config{Dialect: dialect, Verify: s.locks.Check})
	if err != nil {
		return err
	}
	if err := createTables(ctx, db, fence); err != nil {
		return err
	}
	s.ledger = &ledger{db: db, fence: fence}
	url, end, err := serve(s.timeline.requests("ledger", s.ledger.routes()))
	if err != nil {
		return err
	}
	s.cleanup(end)
	s.url = url
	s.timeline.event("ledger", "keeps its entries in %s", dialect)
	return nil
}

// service is a replica as its customers and its operators see it.
type service struct {
	name    string
	url     string
	process *process
}

// startReplica runs this program a second time. A replica that stops does so when
// its first booking is about to leave.
func (s *system) startReplica(name string, stops bool) (*service, error) {
	text, err := json.Marshal(settings{Name: name, Endpoints: s.endpoints, TTL: ttl, Ledger: s.url, Stops: stops})
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Env = append(cmd.Environ(), replicaSettings+"="+string(text))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // stays open until this process ends, or the replica does
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	child, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	s.cleanup(func() { child.kill(); _ = stdin.Close(); _ = stdout.Close() })
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		return nil, errors.Join(fmt.Errorf("replica %s ended before it was ready", name), lines.Err())
	}
	return &service{name: "replica " + name, url: lines.Text(), process: child}, nil
}

// sum reads what is in the ledger, by the fence's side door: for people.
func (s *system) sum(ctx context.Context, account string) (sum int, err error) {
	const query = "SELECT COALESCE(SUM(amount), 0) FROM entries WHERE account = $1"
	err = s.ledger.db.QueryRowContext(ctx, query, account).Scan(&sum)
	return sum, err
}

// freeAddresses finds ports of this machine that nobody listens on.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // held until all are found, so that they differ
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
