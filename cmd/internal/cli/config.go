package cli

import "github.com/spf13/cobra"

func newConfigCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings, or check a file of them",
		Long: `Show the settings, or check a file of them.

A setting is looked for in flags, then in the environment, then in a YAML file,
which --config or FENCELOCK_CONFIG names; what nobody gives has its default. The
setting client.ttl is the flag --ttl, the variable FENCELOCK_CLIENT_TTL, and in a
file

  client:
    ttl: 15s`,
		Args: noSuchCommand,
		RunE: commandMissing,
	}
	cmd.AddCommand(newConfigShowCommand(a), newConfigValidateCommand(a))
	return cmd
}
