//go:build linux

package world

import (
	"context"
	"errors"
)

// Client is a place for client processes, one at a time: its lives.
type Client struct {
	Process
	Name string // "c3"; its second life is "c3.2"
	Host *Host
}

// Start begins a new life; the last one has ended.
func (c *Client) Start() error { return errors.ErrUnsupported }

// Finish ends the process in good order, with SIGTERM; another exit code than 0 is
// an error.
func (c *Client) Finish(ctx context.Context) error { return errors.ErrUnsupported }

// Histories is the files of all its lives.
func (c *Client) Histories() []string { return nil }
