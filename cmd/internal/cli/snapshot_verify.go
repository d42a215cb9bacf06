package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cluster/snapshot"
)

func newSnapshotVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a snapshot file",
		Long: `Check a snapshot file: its checksum, every page of the database and every key. Prints
what is in it. Asks no member.`,
		Args: arguments(1, 1, "FILE"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			cfg, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			info, err := snapshot.Verify(cmd.Context(), args[0], cfg.Client.Namespace)
			if err != nil {
				return fmt.Errorf("%s: %w", commandName(cmd), err)
			}
			return a.print(cfg.Output, stateOf(info))
		}),
	}
}
