//go:build linux

// The program under test is built once; a client process is this one again.

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/chaos/clock"
	"github.com/fencelock/fencelock/test/chaos/traffic"
	"github.com/fencelock/fencelock/test/chaos/world"
	"github.com/fencelock/fencelock/test/testbinary"
)

// every has all kinds tried, for some minutes, in place of a few.
var every = flag.Bool("every", false, "try every kind of fault, for some minutes")

// pairs is how many random pairs of kinds are tried.
var pairs = flag.Int("pairs", 0, "try so many pairs of kinds, at random")

func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "client") {
		os.Exit(clientProcess())
	}
	testbinary.Main(m, build)
}

// build makes the program; where all kinds are tried, with a clock that can be set,
// which takes a minute more.
func build(dir string) (path string, err error) {
	overlay := ""
	if *every {
		if overlay, err = clock.Overlay(dir); err != nil {
			return "", err
		}
	}
	return world.Build(context.Background(), dir, overlay, world.Program)
}

// clientProcess takes the same lock as all others, over and over.
func clientProcess() (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var cfg traffic.Config
	err := json.NewDecoder(os.Stdin).Decode(&cfg)
	if err == nil {
		err = contend(ctx, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func contend(ctx context.Context, cfg traffic.Config) error {
	c, err := client.New(client.Config{Endpoints: cfg.Endpoints, TTL: 2 * time.Second})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		lock, err := c.Lock(ctx, "contended")
		if err != nil {
			_ = wait(ctx, 100*time.Millisecond)
			continue
		}
		_ = wait(ctx, 50*time.Millisecond)
		if err := lock.Unlock(context.Background()); errors.Is(err, client.ErrNotHeld) {
			return err // somebody has unlocked it twice
		}
	}
	return c.Close()
}
