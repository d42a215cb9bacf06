package redisfence

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// Eval runs a Lua script in Redis, by EVALSHA where the client library can, and
// returns its answer: a []any of strings, []byte, int64, nil and lists.
//
// It must send the script at most once: a copy that is sent because the first got
// no answer can land later than the holder's next write. Client libraries that
// repeat requests by themselves have a setting for that; in go-redis it is
// MaxRetries: -1.
type Eval func(ctx context.Context, script string, keys []string, args []string) (any, error)

// Config says where the fences of a Redis lie.
type Config struct {
	// Eval has no default.
	Eval Eval

	// Prefix begins every key; "fencelock:" by default. It holds no braces.
	Prefix string

	// Verify is asked about a token that would raise a fence, before it does; an
	// error refuses it. The client's Check is one. Without Verify any number is
	// admitted, and one that was never issued locks out every holder to come
	// until [Fence.Repair].
	Verify func(ctx context.Context, seq fencing.Sequencer) error
}

const defaultPrefix = "fencelock:"

func (c Config) withDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	return c
}

func (c Config) validate() error {
	if c.Eval == nil {
		return errors.New("no Eval")
	}
	if strings.ContainsAny(c.Prefix, "{}") {
		return fmt.Errorf("prefix %q: braces decide where Redis Cluster keeps a key", c.Prefix)
	}
	return nil
}
