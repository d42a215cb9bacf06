package traffic

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/redisfence"
)

// redisTarget is one Redis.
type redisTarget struct {
	rdb   *redis.Client
	fence *redisfence.Fence
}

// openRedis sends nothing. where is a unix socket, host:port, or a URL.
func openRedis(where string) (*redisTarget, error) {
	options := &redis.Options{Addr: where}
	switch {
	case strings.Contains(where, "://"):
		var err error
		if options, err = redis.ParseURL(where); err != nil {
			return nil, err
		}
	case strings.HasPrefix(where, "/"):
		options.Network = "unix"
	}
	options.MaxRetries = -1 // a script is sent once, see package redisfence
	options.ContextTimeoutEnabled = true
	options.DisableIdentity = true
	rdb := redis.NewClient(options)
	fence, err := redisfence.New(redisfence.Config{Eval: func(ctx context.Context, script string, keys, args []string) (any, error) {
		return redis.NewScript(script).Run(ctx, rdb, keys, args).Result()
	}})
	if err != nil {
		rdb.Close()
		return nil, err
	}
	return &redisTarget{rdb, fence}, nil
}

func (t *redisTarget) open(seq fencing.Sequencer) (store, error) {
	handle, err := t.fence.Open(fencing.NewContext(context.Background(), seq), seq.Lock)
	if err != nil {
		return nil, err
	}
	return redisStore{handle}, nil
}

func (t *redisTarget) close() error { return t.rdb.Close() }

// redisStore keeps the elements of a set in one hash, and each register in a key of
// its own.
type redisStore struct{ handle *redisfence.Handle }

const (
	elementsKey = "elements" // the hash

	putElement    = "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])"
	deleteElement = "return redis.call('HDEL', KEYS[1], ARGV[1])"
	listElements  = "return redis.call('HGETALL', KEYS[1])"
	listRegisters = "return redis.call('MGET', unpack(KEYS))"

	// One command does it all or, with an error, nothing.
	putRegisters = "local all = {} for i, key in ipairs(KEYS) do all[2*i-1], all[2*i] = key, ARGV[i] end return redis.call('MSET', unpack(all))"
)

func inHash(key string) bool { return strings.HasPrefix(key, elementPrefix) }

// Get reads registers only; nobody asks for a single element.
func (s redisStore) Get(ctx context.Context, key string) (string, bool, error) {
	value, found, err := s.handle.Get(ctx, key)
	return string(value), found, err
}

func (s redisStore) List(ctx context.Context, prefix string) (map[string]string, error) {
	found := map[string]string{}
	if inHash(prefix) {
		answer, err := s.list(ctx, listElements, elementsKey)
		for i := 0; i+1 < len(answer); i += 2 {
			found[fmt.Sprint(answer[i])] = fmt.Sprint(answer[i+1])
		}
		return found, err
	}
	answer, err := s.list(ctx, listRegisters, bankKeys()...)
	for i, value := range answer {
		if value != nil {
			found[bankKeys()[i]] = fmt.Sprint(value)
		}
	}
	return found, err
}

// list runs a script that answers with a list.
func (s redisStore) list(ctx context.Context, script string, keys ...string) ([]any, error) {
	answer, err := s.handle.Run(ctx, script, keys, nil)
	if err != nil {
		return nil, err
	}
	items, ok := answer.([]any)
	if !ok {
		return nil, fmt.Errorf("redis answers %T, want a list", answer)
	}
	return items, nil
}

func (s redisStore) Put(ctx context.Context, key, value string) error {
	if inHash(key) {
		_, err := s.handle.Run(ctx, putElement, []string{elementsKey}, []string{key, value})
		return err
	}
	return s.handle.Set(ctx, key, []byte(value), 0)
}

func (s redisStore) Delete(ctx context.Context, key string) error {
	if inHash(key) {
		_, err := s.handle.Run(ctx, deleteElement, []string{elementsKey}, []string{key})
		return err
	}
	_, err := s.handle.Delete(ctx, key)
	return err
}

func (s redisStore) Apply(ctx context.Context, values map[string]string) error {
	var keys, args []string
	for key, value := range values {
		keys, args = append(keys, key), append(args, value)
	}
	_, err := s.handle.Run(ctx, putRegisters, keys, args)
	return err
}
