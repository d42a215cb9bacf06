package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cmd/internal/supervisor"
)

// newGateCommand is for lock itself, which starts its command through it.
func newGateCommand() *cobra.Command {
	return &cobra.Command{
		Use:                supervisor.GateCommand,
		Short:              "Become the command of a lock, when told to",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return supervisor.Gate(args) },
	}
}

// newKeeperCommand is for lock itself, which leaves it to the keeper to end the
// command if fencelock is killed.
func newKeeperCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    supervisor.KeeperCommand,
		Short:  "End the command of a lock when its fencelock has died",
		Hidden: true,
		Args:   arguments(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			line, ok := a.Stdin.(*os.File)
			if !ok {
				return errors.New("standard input is no file of this process")
			}
			return supervisor.Keeper(line)
		},
	}
}
