package cluster

import "errors"

var (
	// ErrInUse: another member runs on the data folder, in this process or
	// another one. Stop it, or give this one a folder of its own.
	ErrInUse = errors.New("in use")

	// ErrForeignFolder: the data folder belongs to another member, another
	// cluster, or another program. Nothing in it was touched.
	ErrForeignFolder = errors.New("not this member's folder")

	// ErrRemoved: the member is no longer part of its cluster. Its data folder
	// is of no more use; a replacement starts with an empty one.
	ErrRemoved = errors.New("removed from the cluster")
)
