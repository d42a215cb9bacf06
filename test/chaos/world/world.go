//go:build linux

package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/test/chaos/clock"
	"github.com/fencelock/fencelock/test/chaos/traffic"
	"github.com/fencelock/fencelock/test/netfault"
)

// Options is what a world is made of.
type Options struct {
	Folder  string         // of what the run keeps: histories, the clients' files
	Clients int            // client processes at a time; default 5
	Binary  string         // the program that members run
	Self    []string       // the command of a client process, "client" is added
	Traffic traffic.Config // of every client; Client, History, Endpoints, Postgres, Redis and Folder are filled in
	Output  io.Writer      // a line for every step of New and Close; nil: none

	// Clocks are wall clocks of members and clients that can be set; Binary and Self
	// are built for them. nil: they have the machine's.
	Clocks *clock.Clocks
}

// World is a cluster, its clients and what stands between and behind them.
type World struct {
	Hosts           *Hosts
	Members         []*Member
	Clients         []*Client         // none is started by New
	Links           []*netfault.Proxy // before each member, in the order of Members
	Postgres, Redis *Resource
	Clocks          *clock.Clocks // Options.Clocks

	options  Options
	has      map[string]bool
	folder   string // of disks and sockets
	etcd     *clientv3.Client
	lastRead *Client // Final's

	closing sync.Mutex
	undo    []func() error // in the order in which things were made
}

const size = 3 // members

// New makes a world whose members are ready. ctx is for the making only.
func New(ctx context.Context, o Options) (*World, error) {
	if o.Clients == 0 {
		o.Clients = 5
	}
	if o.Output == nil {
		o.Output = io.Discard
	}
	if o.Folder == "" || o.Binary == "" || len(o.Self) == 0 || o.Clients < 0 || o.Clients > 50 {
		return nil, errors.New("a world needs a Folder, a Binary, Self, and at most 50 Clients")
	}
	w := &World{Clocks: o.Clocks, options: o, has: map[string]bool{}}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"folders", w.openFolders}, {"hosts", w.openHosts}, {"disks", w.openDisks}, {"PostgreSQL and Redis", w.openResources},
		{"proxies", w.openLinks}, {"members", w.openMembers}, {"clients", w.openClients},
	} {
		_, _ = fmt.Fprintln(o.Output, "world:", step.name)
		err := ctx.Err()
		if err == nil {
			err = step.do(ctx)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", step.name, err), w.Close())
		}
	}
	return w, nil
}

// Close ends everything and removes it. It may be called twice.
func (w *World) Close() error {
	w.closing.Lock()
	defer w.closing.Unlock()
	var errs []error
	for ; len(w.undo) > 0; w.undo = w.undo[:len(w.undo)-1] {
		errs = append(errs, w.undo[len(w.undo)-1]())
	}
	return errors.Join(errs...)
}

// later has something undone by Close.
func (w *World) later(undo func() error) { w.undo = append(w.undo, undo) }

// Has tells whether this machine allows it: "root", "namespaces", "loop" (images
// as disks), "strace"; "clock": there are Clocks.
func (w *World) Has(need string) bool { return w.has[need] }

// Etcd goes straight to the members, from outside.
func (w *World) Etcd() *clientv3.Client { return w.etcd }

// Binary is the program that members run.
func (w *World) Binary() string { return w.options.Binary }

// Scratch is a folder that Close removes.
func (w *World) Scratch() string { return filepath.Join(w.folder, "scratch") }

func (w *World) openFolders(context.Context) error {
	sweep()
	if err := os.MkdirAll(w.options.Folder, 0o755); err != nil {
		return err
	}
	folder, err := newFolder()
	if folder != "" {
		w.folder = folder
		w.later(func() error { return removeFolder(folder) })
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"scratch", "sockets", "sockets/postgres", "sockets/redis"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			return err
		}
	}
	w.has["root"] = os.Geteuid() == 0
	w.has["clock"] = w.Clocks != nil
	w.has["strace"] = traceable() == nil
	return nil
}
