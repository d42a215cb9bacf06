//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/fencelock/fencelock/test/chaos/traffic"
)

// clientMode is the first argument of a client process.
const clientMode = "client"

func main() {
	signal.Ignore(syscall.SIGPIPE) // whoever reads the output may leave: the world is still to be undone
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second one ends the program at once
	code := command(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// command is 0 if nothing was found, 1 if something was, 2 if it was asked wrongly.
func command(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == clientMode {
		return told(client(ctx))
	}
	opts, err := parse(args, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return 2
	case opts.list:
		return told(list(os.Stdout, opts))
	}
	return told(run(ctx, opts))
}

func told(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "chaos:", err)
	return 1
}

// client is what a client process does, as its standard input says.
func client(ctx context.Context) error {
	var cfg traffic.Config
	if err := json.NewDecoder(os.Stdin).Decode(&cfg); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	return traffic.Main(ctx, cfg)
}
