package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/snapshot"
	"github.com/fencelock/fencelock/config"
)

func newSnapshotSaveCommand(a *app) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "save FILE",
		Short: "Save the data of the cluster to a file",
		Long: `Save the data of the cluster to a file, and check it. The endpoints are asked in turn
until one has a snapshot that is as new as the cluster; a member that is cut off has
none. With authentication, the user has to be root.

The file holds all data and the users' passwords as hashes; its mode is 0600.`,
		Args: arguments(1, 1, "FILE"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				ctx := cmd.Context()
				revision, err := clusterRevision(ctx, c, cfg.Client)
				if err != nil {
					return fmt.Errorf("%s: %w", commandName(cmd), err)
				}
				info, err := a.saveFromAny(ctx, cfg, snapshot.SaveConfig{
					Path: args[0], Force: force, AtLeast: revision, Namespaces: []string{cfg.Client.Namespace},
				})
				if err != nil {
					return fmt.Errorf("%s: %w", commandName(cmd), err)
				}
				return a.print(cfg.Output, snapshotStateOf(info))
			})
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return cmd
}

// clusterRevision asks the majority, once per endpoint: one that hangs must not be
// the only one that is asked.
func clusterRevision(ctx context.Context, c *client.Client, cfg config.Client) (int64, error) {
	var err error
	for range cfg.Endpoints {
		one, cancel := context.WithTimeout(ctx, cfg.DialTimeout)
		var revision int64
		revision, err = snapshot.Revision(one, c.Etcd())
		cancel()
		if err == nil {
			return revision, nil
		}
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case isAny(err, rpctypes.ErrPermissionDenied, rpctypes.ErrUserEmpty):
			return 0, fmt.Errorf("%w; only root may take a snapshot: log in with --user root, or with root's certificate", err)
		}
	}
	return 0, fmt.Errorf("%w; are a majority of the members running, and do %s reach them?", err, strings.Join(cfg.Endpoints, ", "))
}

// saveFromAny asks one endpoint after the other.
func (a *app) saveFromAny(ctx context.Context, cfg config.Config, save snapshot.SaveConfig) (snapshot.Info, error) {
	var refused []error
	for _, endpoint := range cfg.Client.Endpoints {
		info, err := a.saveFrom(ctx, cfg, endpoint, save)
		if !errors.Is(err, snapshot.ErrSource) {
			return info, err
		}
		refused = append(refused, fmt.Errorf("%s: %w", endpoint, err))
	}
	return snapshot.Info{}, errors.Join(refused...)
}

func (a *app) saveFrom(ctx context.Context, cfg config.Config, endpoint string, save snapshot.SaveConfig) (snapshot.Info, error) {
	cfg.Client.Endpoints = []string{endpoint}
	c, err := connect(ctx, cfg)
	if err != nil {
		return snapshot.Info{}, err
	}
	bar := newProgress(a.Stderr, "saving from "+endpoint)
	save.Progress = bar.show
	info, err := snapshot.Save(ctx, c.Etcd(), save)
	return info, errors.Join(err, bar.end(), c.Close())
}
