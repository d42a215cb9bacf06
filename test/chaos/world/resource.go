//go:build linux

package world

import "errors"

// Resource is PostgreSQL or Redis, durable unless Start is told otherwise.
type Resource struct {
	Name string // "postgres", "redis"
	Disk *Disk
}

// Kill is kill -9 of all its processes.
func (r *Resource) Kill() error { return errors.ErrUnsupported }

// Stop ends it in good order.
func (r *Resource) Stop() error { return errors.ErrUnsupported }

// Start starts it again on its data, with arguments that hold for this life, such as
// "--appendfsync", "everysec", and returns when it serves.
func (r *Resource) Start(extra ...string) error { return errors.ErrUnsupported }

// Pause stops all its processes, with SIGSTOP.
func (r *Resource) Pause() error { return errors.ErrUnsupported }

// Resume lets them go on.
func (r *Resource) Resume() error { return errors.ErrUnsupported }
