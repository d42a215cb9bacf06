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
	file string // as --config gives it
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
	cfg, err := config.Load(config.Sources{Flags: cmd.Flags(), Env: a.Env, File: a.file})
	if err != nil {
		return config.Config{}, &usageError{err: err}
	}
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
// DialTimeout, and ctx may end before. What it leaves behind ends by itself.
func connect(ctx context.Context, cfg config.Config) (*client.Client, error) {
	if cfg.Client.User == "" {
		return newClient(cfg)
	}
	type made struct {
		client *client.Client
		err    error
	}
	done := make(chan made, 1)
	go func() {
		c, err := newClient(cfg)
		done <- made{c, err}
	}()
	select {
	case m := <-done:
		return m.client, m.err
	case <-ctx.Done():
		return nil, fmt.Errorf("log in: %w", ctx.Err())
	}
}
