//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fencelock/fencelock/test/chaos/clock"
	"github.com/fencelock/fencelock/test/chaos/faults"
	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/traffic"
	"github.com/fencelock/fencelock/test/chaos/world"
)

// scenario is one run, from the start of its world to what was found.
type scenario struct {
	options
	output io.Writer
	folder string
	began  time.Time
	world  *world.World

	replaced   string // the overlay that members are built with: the command line's, or the clocks'
	kinds      []faults.Kind
	notes      []string // what a reader should know beside the checks
	start, end history.Facts
	rounds     *rounds
	progress   *progress
	final      string // history of the client that reads everything in the end
}

// run does it all; what was found is in the error.
func run(ctx context.Context, opts options) (err error) {
	s := &scenario{options: opts, output: os.Stdout, began: time.Now(), replaced: opts.overlay}
	if err := s.openFolder(); err != nil {
		return err
	}
	if s.keep == "" {
		defer os.RemoveAll(s.folder)
	}
	if err := errors.Join(writable(s.html), writable(s.json)); err != nil {
		return err
	}
	fmt.Fprintf(s.output, "%s\n", opts.repeat())
	if err := s.build(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.world.Close()) }()
	broken := s.happen(ctx)
	if err := s.finish(); err != nil {
		broken = errors.Join(broken, err)
	}
	return s.judge(broken)
}

// openFolder makes the folder of histories and logs. One that is to be kept must be
// empty: another run's files would be taken for this one's.
func (s *scenario) openFolder() (err error) {
	if s.keep == "" {
		// Named as the world's own folder is: the next run sweeps it, if this one is killed.
		s.folder, err = os.MkdirTemp("", fmt.Sprintf("%s%d-run-", world.FolderPrefix, os.Getpid()))
		return err
	}
	if s.folder, err = filepath.Abs(s.keep); err != nil { // commands are run elsewhere
		return err
	}
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return err
	}
	there, err := os.ReadDir(s.folder)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("-keep %s: it is not empty", s.keep)
	}
	return err
}

// build makes the world.
func (s *scenario) build(ctx context.Context) error {
	clocks, err := s.clocks()
	if err != nil {
		return err
	}
	binary, self, err := s.compile(ctx)
	if err != nil {
		return err
	}
	s.world, err = world.New(ctx, world.Options{Folder: s.folder, Clients: s.clients, Binary: binary,
		Self: []string{self}, Clocks: clocks, Output: s.output,
		Traffic: traffic.Config{TTL: s.ttl, Seed: s.seed, Targets: s.targets, Workloads: s.workloads, Think: 40 * time.Millisecond, Hasty: 250 * time.Millisecond}})
	if err != nil {
		return err
	}
	if err := s.pick(); err != nil {
		return errors.Join(err, s.world.Close())
	}
	return nil
}

// clocks is nil, or what sets the wall clocks of processes that are built with the
// overlay.
func (s *scenario) clocks() (*clock.Clocks, error) {
	if !s.clock {
		return nil, nil
	}
	dir := filepath.Join(s.folder, "clocks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if s.replaced, err = clock.Overlay(dir); err != nil {
		return nil, err
	}
	processes := []string{"m1", "m2", "m3"}
	for i := range s.clients {
		processes = append(processes, fmt.Sprintf("c%d", i+1))
	}
	return clock.New(dir, processes...)
}

// compile builds the members' program. Clients are this program, which is built
// again if they need clocks of their own.
func (s *scenario) compile(ctx context.Context) (binary, self string, err error) {
	if binary, err = world.Build(ctx, s.folder, s.replaced, world.Program); err != nil {
		return "", "", err
	}
	if s.clock {
		self, err = world.Build(ctx, s.folder, s.replaced, "test/chaos")
	} else {
		self, err = os.Executable()
	}
	return binary, self, err
}

// happen is the traffic and the faults.
func (s *scenario) happen(ctx context.Context) error {
	s.progress = newProgress(s.histories)
	s.rounds = &rounds{world: s.world, progress: s.progress, targets: s.targets, ttl: s.ttl, output: s.output, nemesis: newNemesis(s.seed, s.kinds, s.together)}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	if s.start, err = s.world.Facts(within); err != nil {
		return err
	}
	for _, c := range s.world.Clients {
		if err := c.Start(); err != nil {
			return err
		}
	}
	if err := s.progress.served(within, 0, s.targets); err != nil {
		return fmt.Errorf("before any fault: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, time.Duration(s.minutes*float64(time.Minute)))
	defer stop()
	err = s.rounds.run(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		s.notes = append(s.notes, "interrupted before its time")
	}
	return err
}

// histories is the files of all clients' lives so far, and of the last client.
func (s *scenario) histories() []string {
	var paths []string
	for _, c := range s.world.Clients {
		paths = append(paths, c.Histories()...)
	}
	if s.final != "" {
		paths = append(paths, s.final)
	}
	return paths
}

// finish ends the clients in good order, reads everything, and waits until nothing
// is left over, or for too long.
func (s *scenario) finish() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	fmt.Fprintln(s.output, "acknowledged operations:", s.progress)
	ends := make([]error, len(s.world.Clients))
	var ending sync.WaitGroup
	for i, c := range s.world.Clients {
		ending.Go(func() {
			if err := c.Finish(ctx); err != nil {
				ends[i] = fmt.Errorf("client %s: %w", c.Name, err)
			}
		})
	}
	ending.Wait()
	err := errors.Join(ends...)
	final, finalErr := s.world.Final(ctx)
	s.final = final
	return errors.Join(err, finalErr, s.rest(ctx))
}

// rest waits for what ends by itself: leases of clients that were killed.
func (s *scenario) rest(ctx context.Context) error {
	deadline := time.After(3*s.ttl + election)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		facts, err := s.world.Facts(ctx)
		if err != nil {
			return err
		}
		s.end = facts
		if len(facts.Claims) == 0 && facts.Leases == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline:
			return nil // the checks tell
		}
	}
}

// election is when one begins, at the latest, after the leader's last word.
const election = 2 * time.Second
