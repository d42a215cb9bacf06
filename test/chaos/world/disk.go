//go:build linux

package world

import "errors"

// Disk is the file system of a member, PostgreSQL or Redis.
type Disk struct{}

// Dir is the folder for its owner's data.
func (d *Disk) Dir() string { return "" }

// Copy keeps what the disk would hold if the power failed now: what its owner has
// not synced may not be there. The owner is paused.
func (d *Disk) Copy() error { return errors.ErrUnsupported }

// Restore puts the copy in the disk's place. The owner has been killed.
func (d *Disk) Restore() error { return errors.ErrUnsupported }

// Fill takes all but about 1 MiB of the room.
func (d *Disk) Fill() (free func() error, err error) { return nil, errors.ErrUnsupported }

// Wipe empties Dir. The owner has ended.
func (d *Disk) Wipe() error { return errors.ErrUnsupported }
