package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing"
)

// checked is a sequencer that is the current holder's.
type checked struct {
	Sequencer fencing.Sequencer `json:"sequencer"`
	Lock      string            `json:"lock"`
	Token     fencing.Token     `json:"token"`
	Held      bool              `json:"held"`
}

func newCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check SEQUENCER",
		Short: "Ask whether a sequencer is the current holder's",
		Long: `Ask whether a sequencer is the current holder's: exit code 0 if it is, 3 if not,
with the reason. The answer may be outdated when it arrives; only a fence, as
that of "fencelock kv", protects data.`,
		Args: arguments(1, 1, "SEQUENCER"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			seq, err := fencing.ParseSequencer(args[0])
			if err != nil {
				return misuse(cmd, err)
			}
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				if err := c.Check(cmd.Context(), seq); err != nil {
					return err
				}
				return a.print(cfg.Output, checked{Sequencer: seq, Lock: seq.Lock, Token: seq.Token, Held: true})
			})
		}),
	}
}

func (c checked) table(w io.Writer) { row(w, c.Sequencer.String()+" holds the lock") }
