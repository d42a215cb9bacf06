package cli

import (
	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/config"
)

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
    ttl: 15s

A variable that begins with FENCELOCK_ and sets nothing is a warning of these two
commands, on standard error; all others ignore it.`,
		Args: noSuchCommand,
		RunE: commandMissing,
	}
	cmd.AddCommand(newConfigShowCommand(a), newConfigValidateCommand(a))
	return cmd
}

// warnOfVariables names on standard error what is in the environment as if it were
// a setting. It is no error: nobody knows what else has such names.
func (a *app) warnOfVariables() {
	for _, unknown := range config.UnknownVariables(a.Env, lockVariable, tokenVariable, sequencerVariable, sequencersVariable, passwordVariable) {
		a.note("warning: " + visible(unknown))
	}
}
