package traffic

import (
	"context"
	"errors"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/test/chaos/history"
)

// store is what lies behind one guard, for the holder of one token, which ctx carries.
type store interface {
	Get(ctx context.Context, key string) (value string, found bool, err error)
	// List reads, at one moment, all keys that begin with prefix: those of a set, or
	// with an empty one those of a bank.
	List(ctx context.Context, prefix string) (map[string]string, error)
	Put(ctx context.Context, key, value string) error
	Delete(ctx context.Context, key string) error
	// Apply puts several keys in one step.
	Apply(ctx context.Context, values map[string]string) error
}

// target opens stores. They have nothing to close.
type target interface {
	open(seq fencing.Sequencer) (store, error)
	close() error
}

const kvTarget = "kv"

// errGarbled: what was read is nothing that this package writes. It ends the process.
var errGarbled = errors.New("garbled data")

func openTarget(name string, cfg Config) (target, error) {
	switch name {
	case history.Control:
		return controlTarget{cfg.Folder}, nil
	case "sql":
		return openSQL(cfg.Postgres)
	case "redis":
		return openRedis(cfg.Redis)
	case "file":
		return openFiles(cfg)
	}
	return nil, fmt.Errorf("no such target")
}

// unusable is a store that could not be opened: nothing is read or written.
type unusable struct{ err error }

func (u unusable) Get(context.Context, string) (string, bool, error) { return "", false, u.err }

func (u unusable) List(context.Context, string) (map[string]string, error) { return nil, u.err }

func (u unusable) Put(context.Context, string, string) error { return u.err }

func (u unusable) Delete(context.Context, string) error { return u.err }

func (u unusable) Apply(context.Context, map[string]string) error { return u.err }
