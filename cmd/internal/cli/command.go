package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cmd/internal/words"
	"github.com/fencelock/fencelock/config"
)

// action is what a command does, as cobra calls it.
type action = func(cmd *cobra.Command, args []string) error

// interruptible ends the command's context with SIGINT and SIGTERM. A second one
// ends the process, as if nobody had listened.
func interruptible(run action) action {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		cmd.SetContext(ctx)
		err := run(cmd, args)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return fmt.Errorf("interrupted: %w", err)
		}
		return err
	}
}

// arguments checks the number of arguments; want names them in the error.
func arguments(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return usagef(cmd, "want %s, got %s", want, words.Count(len(args), "argument"))
	}
}

// noSuchCommand is the check of the arguments of a command that only has others
// below it: whatever is left over is no command.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if meant := config.Closest(args[0], commandNames(cmd)); meant != "" {
		return usagef(cmd, "no command %q; did you mean %q?", args[0], meant)
	}
	return usagef(cmd, "no command %q", args[0])
}

// commandMissing is the action of a command that only has others below it.
func commandMissing(cmd *cobra.Command, _ []string) error {
	return usagef(cmd, "want one of %s", strings.Join(commandNames(cmd), ", "))
}

// commandNames are those of the commands below cmd.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	slices.Sort(names)
	return names
}

// commandName is what the user typed, without the program's name if there is more.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// misuse says which command an error is about.
func misuse(cmd *cobra.Command, what error) error {
	if cmd.HasParent() {
		return fmt.Errorf("%s: %w", commandName(cmd), what)
	}
	return what
}
