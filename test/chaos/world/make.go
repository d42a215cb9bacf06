//go:build linux

package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/test/netfault"
)

func (w *World) openHosts(context.Context) error {
	if !w.Has("root") {
		w.Hosts = Loopback(size, w.options.Clients)
		return nil
	}
	h, err := Namespaces(size, w.options.Clients)
	w.later(h.Close)
	if err != nil {
		return err
	}
	w.Hosts = h
	w.has["namespaces"] = true
	return nil
}

// openDisks tries once whether images can be mounted here.
func (w *World) openDisks(context.Context) error {
	if w.Has("root") {
		d, err := NewDisk(w.folder, "probe", true)
		if err == nil {
			err = errors.Join(d.Close(), os.Remove(d.image))
		}
		if err != nil {
			_, _ = fmt.Fprintln(w.options.Output, "world: plain folders for disks:", err)
		}
		w.has["loop"] = err == nil
	}
	return nil
}

// disk makes one that Close unmounts.
func (w *World) disk(name string) (*Disk, error) {
	d, err := NewDisk(w.folder, name, w.Has("loop"))
	if d != nil {
		w.later(d.Close)
	}
	return d, err
}

func (w *World) openResources(context.Context) error {
	disks := map[string]*Disk{}
	for _, name := range []string{"postgres", "redis"} {
		d, err := w.disk(name)
		if err != nil {
			return err
		}
		disks[name] = d
	}
	var postgresErr, redisErr error
	var running sync.WaitGroup
	sockets := filepath.Join(w.folder, "sockets")
	running.Go(func() { w.Postgres, postgresErr = newPostgres(disks["postgres"], sockets) })
	running.Go(func() { w.Redis, redisErr = newRedis(disks["redis"], sockets) })
	running.Wait()
	for _, r := range []*Resource{w.Postgres, w.Redis} {
		if r != nil {
			w.later(func() error { r.server.Remove(); return nil })
		}
	}
	return errors.Join(postgresErr, redisErr)
}

func (w *World) openLinks(context.Context) error {
	for _, host := range w.Hosts.Members {
		p, err := netfault.Listen(w.Hosts.Outside+":0", host.Address+":2379")
		if err != nil {
			return err
		}
		w.Links = append(w.Links, p)
		w.later(p.Close)
	}
	return nil
}

func (w *World) openMembers(ctx context.Context) error {
	var endpoints []string
	for i := range w.Hosts.Members {
		name := fmt.Sprintf("m%d", i+1)
		d, err := w.disk(name)
		if err != nil {
			return err
		}
		m := w.Hosts.NewMember(i, d, w.options.Binary)
		m.env = w.Clocks.Env(name)
		w.Members = append(w.Members, m)
		endpoints = append(endpoints, m.Endpoint)
	}
	for _, m := range w.Members {
		w.later(m.Kill)
		if err := m.Launch(); err != nil {
			return err
		}
	}
	for _, m := range w.Members {
		if err := m.Ready(ctx); err != nil {
			return err
		}
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	w.etcd = etcd
	w.later(etcd.Close)
	return w.Settle(ctx)
}

func (w *World) openClients(context.Context) error {
	for i, h := range w.Hosts.Clients {
		w.Clients = append(w.Clients, w.client(fmt.Sprintf("c%d", i+1), h))
	}
	w.lastRead = w.client("c0", &Host{Address: w.Hosts.Outside})
	w.lastRead.config.Final = true
	return nil
}

// client makes a client that Close kills.
func (w *World) client(name string, host *Host) *Client {
	cfg := w.options.Traffic
	for _, p := range w.Links {
		cfg.Endpoints = append(slices.Clip(cfg.Endpoints), p.Addr())
	}
	cfg.Postgres, cfg.Redis = w.Postgres.Socket, w.Redis.Socket
	cfg.Folder = filepath.Join(w.options.Folder, "files")
	c := &Client{Name: name, Host: host, command: append(slices.Clone(w.options.Self), "client"), folder: w.options.Folder, config: cfg, env: w.Clocks.Env(name)}
	w.later(c.Kill)
	return c
}
