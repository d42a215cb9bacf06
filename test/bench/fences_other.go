package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/redis/go-redis/v9"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/servers"
)

// startRedis writes the same value by SET and by the fence's script.
func startRedis(ctx context.Context) (fencePair, error) {
	server, err := servers.RunRedis()
	if err != nil {
		return fencePair{}, err
	}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DisableIdentity: true})
	stop := func() { rdb.Close(); server.Remove() }
	handle, err := redisHandle(ctx, rdb)
	if err != nil {
		stop()
		return fencePair{}, err
	}
	value := []byte("a value of some length, as values are")
	return fencePair{
		plain:  func() error { return rdb.Set(ctx, "plain", value, 0).Err() },
		fenced: func() error { return handle.Set(ctx, "fenced", value, 0) },
		close:  stop,
	}, nil
}

func redisHandle(ctx context.Context, rdb *redis.Client) (*redisfence.Handle, error) {
	fence, err := redisfence.New(redisfence.Config{Eval: func(ctx context.Context, script string, keys, args []string) (any, error) {
		return redis.NewScript(script).Run(ctx, rdb, keys, args).Result()
	}})
	if err != nil {
		return nil, err
	}
	return fence.Open(ctx, fenceGuard)
}

// startFile replaces a file of 4 KiB, in either case by way of a temporary file,
// fsync, rename and fsync of the folder.
func startFile(ctx context.Context) (fencePair, error) {
	dir, err := os.MkdirTemp("", "fencelock-bench-")
	if err != nil {
		return fencePair{}, err
	}
	fenced, err := filefence.New(filefence.Config{Path: filepath.Join(dir, "fenced"), Guard: fenceGuard})
	if err != nil {
		return fencePair{}, err
	}
	seq, err := fencing.ForGuard(ctx, fenceGuard)
	if err != nil {
		return fencePair{}, err
	}
	data := make([]byte, 4<<10)
	return fencePair{
		plain:  func() error { return replaceFile(filepath.Join(dir, "plain"), data) },
		fenced: func() error { return fenced.Write(ctx, seq, data) },
		close:  func() { os.RemoveAll(dir) },
	}, nil
}

// replaceFile is the durable write without a fence.
func replaceFile(path string, data []byte) error {
	next, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = next.Write(data)
	if err := errors.Join(err, next.Sync(), next.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
