package cluster

import (
	"errors"

	"github.com/fencelock/fencelock/cluster/bootstrap"
)

var (
	// ErrInUse: another member, or a tool, works on the data folder, in this
	// process or another one.
	ErrInUse = errors.New("in use; stop the member that runs on it, or use another folder")

	// ErrForeignFolder: the data folder belongs to another member, another
	// cluster, or another program. Nothing in it was touched.
	ErrForeignFolder = errors.New("not this member's folder")

	// ErrReplace, ErrInterrupted, ErrDisagree: why a first start is refused.
	ErrReplace     = bootstrap.ErrReplace
	ErrInterrupted = bootstrap.ErrInterrupted
	ErrDisagree    = bootstrap.ErrDisagree

	// ErrRemoved: the member is no longer part of its cluster. Its data folder
	// is of no more use; a replacement starts with an empty one.
	ErrRemoved = errors.New("removed from the cluster")
)
