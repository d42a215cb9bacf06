package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
)

// app is what commands have in common: the process they run in, the
// configuration, the way to the cluster, and how results are printed.
type app struct {
	Process
	file    string         // as --config gives it
	cluster *config.Client // how to reach it; nil until the configuration has been read
}

// env returns an environment variable; one that is not set is empty.
func (a *app) env(name string) string {
	value := ""
	for _, entry := range a.Env { // of two, the last counts
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest
		}
	}
	return value
}

// loadConfig reads all settings for cmd. Its errors are wrong usage.
func (a *app) loadConfig(cmd *cobra.Command) (config.Config, error) {
	if a.file == "" && cmd.Flags().Changed("config") {
		return config.Config{}, usagef(cmd, "--config: the file's name is empty")
	}
	cfg, err := outlive(cmd.Context(), func() (config.Config, error) {
		return config.Load(config.Sources{Flags: cmd.Flags(), Env: a.Env, File: a.file})
	})
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return config.Config{}, fmt.Errorf("read the configuration: %w", err)
	case err != nil:
		return config.Config{}, &usageError{err: err}
	}
	a.cluster = &cfg.Client
	return cfg, nil
}

// newClient makes a client of the cluster that cfg names. It does not dial, unless
// there is a user to log in. The caller closes it.
func newClient(cfg config.Config) (*client.Client, error) {
	settings, err := cfg.Client.Config()
	if err != nil {
		return nil, &usageError{err: err}
	}
	return client.New(settings)
}

// withClient runs f with a client, and closes it.
func (a *app) withClient(cmd *cobra.Command, f func(*client.Client, config.Config) error) error {
	cfg, err := a.loadConfig(cmd)
	if err != nil {
		return err
	}
	c, err := connect(cmd.Context(), cfg)
	if err != nil {
		return fmt.Errorf("%s: %w", commandName(cmd), err)
	}
	return errors.Join(f(c, cfg), c.Close())
}

// connect is newClient with a way out: a login that nobody answers takes up to
// DialTimeout.
func connect(ctx context.Context, cfg config.Config) (*client.Client, error) {
	if cfg.Client.User == "" {
		return newClient(cfg)
	}
	c, err := outlive(ctx, func() (*client.Client, error) { return newClient(cfg) })
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	return c, err
}

// outlive is f with a way out, for what may hang (a read of a pipe, of a file that
// is one): it returns when f has, or when ctx ends. What f leaves behind then ends
// with the process.
func outlive[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type made struct {
		value T
		err   error
	}
	done := make(chan made, 1)
	go func() {
		value, err := f()
		done <- made{value, err}
	}()
	select {
	case m := <-done:
		return m.value, m.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
