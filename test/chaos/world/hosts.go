//go:build linux

package world

import "errors"

// Everywhere is every address, for Lose and Reset.
const Everywhere = "0.0.0.0/0"

// Host is where a member or a client runs.
type Host struct {
	Address string // of its own; of a client without namespaces: 127.0.0.1
}

// Hosts is the network. Each fault of it stands beside the others and returns what
// undoes it alone, which may be called twice, and after Heal.
type Hosts struct {
	Outside string // the address of the proxies and of the run itself
}

// Lose lets the packets from one address to another vanish, in this direction.
func (h *Hosts) Lose(from, to string) (undo func() error, err error) {
	return nil, errors.ErrUnsupported
}

// LoseShare lets so many of a hundred packets vanish, at random, between all hosts.
func (h *Hosts) LoseShare(percent int) (undo func() error, err error) {
	return nil, errors.ErrUnsupported
}

// Reset answers what one address sends to another with TCP resets.
func (h *Hosts) Reset(from, to string) (undo func() error, err error) {
	return nil, errors.ErrUnsupported
}

// Slow gives the cable of a host so many kbit/s, in each direction.
func (h *Hosts) Slow(host *Host, kbit int) (undo func() error, err error) {
	return nil, errors.ErrUnsupported
}

// Heal undoes every fault.
func (h *Hosts) Heal() error { return errors.ErrUnsupported }
