package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fencelock/fencelock/config"
)

// explainFlag words what is wrong with a flag.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usagef(cmd, "--%s %q: %w", invalid.GetFlag().Name, shortened(invalid.GetValue()), invalid.Unwrap())
	}
	if !errors.As(err, &unknown) {
		return usagef(cmd, "%w", err)
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return usagef(cmd, "%w; an argument that begins with - goes after --", err)
	}
	if meant := config.Closest(unknown.GetSpecifiedName(), flagNames(cmd)); meant != "" {
		return usagef(cmd, "%w; did you mean --%s?", err, meant)
	}
	return usagef(cmd, "%w", err)
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
