//go:build linux

package world

import (
	"path/filepath"

	"github.com/fencelock/fencelock/test/servers"
)

// Resource is PostgreSQL or Redis, durable unless Start is told otherwise.
type Resource struct {
	Name   string // "postgres", "redis"
	Disk   *Disk
	Socket string // what a client process is told: a URL; a path

	server *servers.Server
}

// database is where client processes keep their rows.
const database = "chaos"

// newPostgres starts a PostgreSQL that needs little of its disk, and nothing beside it:
// a killed one would leave its shared memory behind.
func newPostgres(disk *Disk, sockets string) (*Resource, error) {
	s, err := servers.RunPostgresAt(servers.Place{Folder: disk.Dir(), Sockets: filepath.Join(sockets, "postgres"),
		Args: []string{"-c", "max_wal_size=128MB", "-c", "dynamic_shared_memory_type=mmap"}}, database)
	if err != nil {
		return nil, err
	}
	r := &Resource{Name: "postgres", Disk: disk, Socket: s.Socket(database), server: s}
	return r, disk.sync() // initdb was told not to
}

// newRedis starts a Redis that answers when its log is on disk.
func newRedis(disk *Disk, sockets string) (*Resource, error) {
	s, err := servers.RunRedisAt(servers.Place{Folder: disk.Dir(), Sockets: filepath.Join(sockets, "redis")})
	if err != nil {
		return nil, err
	}
	return &Resource{Name: "redis", Disk: disk, Socket: s.Socket(""), server: s}, nil
}

// Kill is kill -9 of all its processes, paused or not; they may have ended before.
func (r *Resource) Kill() error { return r.server.Crash() }

// Stop ends it in good order.
func (r *Resource) Stop() error { return r.server.Shutdown() }

// Start starts it again on its data, with arguments that hold for this life, such as
// "--appendfsync", "everysec", and returns when it serves.
func (r *Resource) Start(extra ...string) error { return r.server.Launch(extra...) }

// Pause stops all its processes, with SIGSTOP.
func (r *Resource) Pause() error { return r.server.Pause() }

// Resume lets them go on.
func (r *Resource) Resume() error { return r.server.Resume() }
