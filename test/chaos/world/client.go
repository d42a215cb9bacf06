//go:build linux

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fencelock/fencelock/test/chaos/traffic"
)

// Client is a place for client processes, one at a time: its lives.
type Client struct {
	Process
	Name string // "c3"; its second life is "c3.2"
	Host *Host

	command []string
	folder  string         // of the histories
	config  traffic.Config // of every life
	env     []string       // beside that of the run

	livesMu   sync.Mutex
	histories []string
}

// Start begins a new life; the last one has ended.
func (c *Client) Start() error {
	c.livesMu.Lock()
	defer c.livesMu.Unlock()
	cfg := c.config
	cfg.Client = fmt.Sprintf("%s.%d", c.Name, len(c.histories)+1)
	cfg.History = filepath.Join(c.folder, cfg.Client+".jsonl")
	input, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "FENCELOCK_CHAOS_CLIENT="+cfg.Client) // for whoever looks at a list of processes
	cmd.Env = append(cmd.Env, c.env...)
	if err := c.begin(c.Host, cmd); err != nil {
		return fmt.Errorf("start %s: %w", cfg.Client, err)
	}
	c.histories = append(c.histories, cfg.History)
	return nil
}

// StandStill has the process stop before it writes what follows from what it has read,
// see traffic.Standstill; it returns when the process has stopped. One that has nothing
// to write is stopped where it is.
func (c *Client) StandStill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, traffic.StandstillBy)
	defer cancel()
	if err := c.Signal(traffic.Standstill); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !c.stopped() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return c.Pause()
		}
	}
	return nil
}

// stopped reports whether the kernel says so.
func (p *Process) stopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		return false
	}
	_, state, found := bytes.Cut(stat, []byte(") ")) // behind the program's name
	return found && bytes.HasPrefix(state, []byte("T"))
}

// Finish ends the process in good order, with SIGTERM; another exit code than 0 is
// an error.
func (c *Client) Finish(ctx context.Context) error { return c.finish(ctx, c.Name) }

// Histories is the files of all its lives. One that was killed at once may not have
// made its own.
func (c *Client) Histories() []string {
	c.livesMu.Lock()
	defer c.livesMu.Unlock()
	return slices.Clone(c.histories)
}

// finish sends SIGTERM, also to a paused process, and waits.
func (p *Process) finish(ctx context.Context, name string) error {
	err := errors.Join(p.Signal(syscall.SIGTERM), p.Resume())
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end %s: %w", name, err)
	}
	return p.await(ctx, name)
}

// await waits for an end with exit code 0.
func (p *Process) await(ctx context.Context, name string) error {
	select {
	case <-p.Ended():
	case <-ctx.Done():
		return fmt.Errorf("%s has not ended: %w; it says: %s", name, ctx.Err(), p.Text())
	}
	if code := p.Code(); code != 0 {
		return fmt.Errorf("%s has ended with exit code %d: %s", name, code, p.Text())
	}
	return nil
}
