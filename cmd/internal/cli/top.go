package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/top"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing/keys"
)

func newTopCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "top [PREFIX]",
		Short: "Show locks and waiters on the whole screen, as they change",
		Long: `Show the locks whose names begin with PREFIX, all without one, on the whole screen
of a terminal, as they change. "HELD FOR" counts from when the holder asked for the
lock.

  up, down, page up, page down, home, end   move
  enter         all about the lock under the cursor; escape goes back
  n, a, w, t    sort by name, held for, waiters, token; twice turns the order round
  /             show only what has a text in its name, owners or labels
  q, Ctrl-C     quit

While the cluster does not answer, it says so and goes on asking.`,
		Args: arguments(0, 1, "at most PREFIX"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			prefix := strings.Join(args, "")
			if err := keys.CheckPrefix(prefix); err != nil {
				return misuse(cmd, err)
			}
			if !isTerminal(a.Stdin) || !isTerminal(a.Stdout) || a.env("TERM") == "dumb" {
				return &exitError{codeFailure, errors.New(`top: it needs a terminal that can move its cursor; use "fencelock locks" to see the locks once, "fencelock watch" to follow what happens`)}
			}
			return a.withClient(cmd, func(c *client.Client, _ config.Config) error {
				if err := top.Run(cmd.Context(), top.Config{Client: c, Prefix: prefix, In: a.Stdin, Out: a.Stdout, Env: a.Env, Visible: visible}); err != nil {
					return fmt.Errorf("top: %w", err)
				}
				return nil
			})
		}),
	}
}
