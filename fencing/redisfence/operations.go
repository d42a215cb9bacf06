package redisfence

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Advance claims the fence and touches no data: from then on no older holder can
// read or write here. Any other operation does so too.
func (h *Handle) Advance(ctx context.Context) error {
	_, err := h.do(ctx, operation{doing: "advance", name: "advance"})
	return err
}

// Get returns the value of a key, and whether there is one.
func (h *Handle) Get(ctx context.Context, key string) (value []byte, found bool, err error) {
	result, err := h.on(ctx, key, operation{name: "get"})
	if err != nil || result == nil {
		return nil, false, err
	}
	text, err := text(result)
	return []byte(text), err == nil, err
}

// Set writes a key, for ttl or, if that is 0, for ever. Redis counts in
// milliseconds.
func (h *Handle) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	life, err := milliseconds(ttl)
	if err != nil {
		return err
	}
	_, err = h.on(ctx, key, operation{name: "set", writes: true, args: []string{string(value), life}})
	return err
}

// Delete removes a key and reports whether it was there. The fence stays.
func (h *Handle) Delete(ctx context.Context, key string) (deleted bool, err error) {
	return yes(h.on(ctx, key, operation{name: "delete", writes: true}))
}

// CompareAndSet writes new if the key holds old, and reports whether it did. A
// nil old stands for no such key; a nil new deletes. ttl is as in Set.
func (h *Handle) CompareAndSet(ctx context.Context, key string, old, new []byte, ttl time.Duration) (swapped bool, err error) {
	life, err := milliseconds(ttl)
	if err != nil {
		return false, err
	}
	args := []string{exists(old), string(old), exists(new), string(new), life}
	return yes(h.on(ctx, key, operation{name: "cas", writes: true, args: args}))
}

// Run runs a Lua script of your own under the fence, in the same step. Its KEYS
// are the guard's keys of these names, as Set writes them, its ARGV are args. It
// returns what the script returns, as Eval gives it.
//
// Redis does not roll back: of a script that fails, what it wrote before stays.
func (h *Handle) Run(ctx context.Context, script string, names, args []string) (any, error) {
	if strings.HasPrefix(script, "#!") {
		return nil, errors.New("run script: it begins with a line of its own for Redis (#!), which has no place inside another script")
	}
	full := make([]string, len(names))
	for i, name := range names {
		if err := keys.CheckKey(name); err != nil {
			return nil, err
		}
		full[i] = h.fence.Key(h.seq.Lock, name)
	}
	return h.do(ctx, operation{doing: "run script", name: "run", writes: true, user: script, keys: full, args: args})
}

// on performs an operation on one key.
func (h *Handle) on(ctx context.Context, key string, op operation) (any, error) {
	if err := keys.CheckKey(key); err != nil {
		return nil, err
	}
	op.doing = fmt.Sprintf("%s %q", op.name, key)
	op.keys = []string{h.fence.Key(h.seq.Lock, key)}
	return h.do(ctx, op)
}

func milliseconds(ttl time.Duration) (string, error) {
	if ttl < 0 || ttl > 0 && ttl < time.Millisecond {
		return "", fmt.Errorf("%w: a time to live of %v: at least a millisecond, or 0 for ever", fencing.ErrMalformed, ttl)
	}
	return strconv.FormatInt(ttl.Milliseconds(), 10), nil
}

func exists(value []byte) string {
	if value == nil {
		return "0"
	}
	return "1"
}

// yes reads a count of 0 or 1.
func yes(result any, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, ok := result.(int64)
	if !ok {
		return false, fmt.Errorf("redis answers %T, want a number", result)
	}
	return n == 1, nil
}
