//go:build linux

package world

import (
	"context"
	"errors"
)

// Member is one of the cluster's processes.
type Member struct {
	Process
	Name     string // "m1"; the cluster knows it by PeerURL's host and port
	Host     *Host
	Disk     *Disk
	Endpoint string // host:port for clients
	PeerURL  string
}

// Launch starts the process, with arguments beside those that it always has.
func (m *Member) Launch(extra ...string) error { return errors.ErrUnsupported }

// Ready waits until the process says that it serves.
func (m *Member) Ready(ctx context.Context) error { return errors.ErrUnsupported }

// Start is Launch and Ready.
func (m *Member) Start(ctx context.Context) error { return errors.ErrUnsupported }

// Terminate ends the process in good order, with SIGTERM, and waits.
func (m *Member) Terminate(ctx context.Context) error { return errors.ErrUnsupported }

// SetCommand replaces the arguments behind the program's name, for this and all
// later lives: what "member replace" tells. The data folder, log level and address
// of metrics are added where words do not name them.
func (m *Member) SetCommand(words []string) {}

// SetBinary replaces the program, for all later lives.
func (m *Member) SetBinary(path string) {}

// Trace attaches strace to the process, with arguments such as
// "-e", "inject=fdatasync:error=EIO"; undo detaches it.
func (m *Member) Trace(args ...string) (undo func() error, err error) {
	return nil, errors.ErrUnsupported
}
