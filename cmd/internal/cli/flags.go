package cli

import (
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fencelock/fencelock/config"
)

// explainFlag words what is wrong with a flag.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usagef(cmd, "--%s %q: %w", invalid.GetFlag().Name, shortened(invalid.GetValue()), wanted(invalid))
	}
	if !errors.As(err, &unknown) {
		return usagef(cmd, "%w", err)
	}
	if unknown.GetSpecifiedShortnames() != "" && cmd.Name() == "lock" { // there, a command goes after it
		return usagef(cmd, "%w; a NAME that begins with - goes between two --: lock -- -NAME -- COMMAND", err)
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return usagef(cmd, "%w; an argument that begins with - goes after --", err)
	}
	if slices.Contains(commandNames(cmd), unknown.GetSpecifiedName()) {
		return usagef(cmd, "%w; did you mean %q?", err, cmd.CommandPath()+" "+unknown.GetSpecifiedName())
	}
	if meant := config.Closest(unknown.GetSpecifiedName(), flagNames(cmd)); meant != "" {
		return usagef(cmd, "%w; did you mean --%s?", err, meant)
	}
	return usagef(cmd, "%w", err)
}

// wanted is why a value was refused. What pflag reads itself it hands to strconv,
// which names its own functions.
func wanted(invalid *pflag.InvalidValueError) error {
	var number *strconv.NumError
	switch {
	case !errors.As(invalid, &number):
		return invalid.Unwrap()
	case invalid.GetFlag().Value.Type() == "bool":
		return errors.New("want true or false")
	}
	return errors.New("want a whole number")
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
