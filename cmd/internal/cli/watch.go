package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing/keys"
)

// event is one change in a lock's queue.
type event struct {
	Time     time.Time        `json:"time"` // when it was seen here
	Event    client.EventKind `json:"event"`
	Lock     string           `json:"lock"`
	Revision int64            `json:"revision,string"`
	Claim    claim            `json:"claim"` // without what is said about its session
}

func newWatchCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "watch [PREFIX]",
		Short: "Show what happens to locks, as it happens",
		Long: `Show what happens to the locks whose names begin with PREFIX, to all without one,
from now on, until it is interrupted. One line for each event:

  waiting     a claim was put behind others
  acquired    a claim holds from now on
  released    it held, and was given back
  withdrawn   it waited, and was taken back
  lost        it ended with its session
  broken      it held, and somebody else broke it

With -o json one object a line, with -o yaml one document each. SIGINT and SIGTERM
end it with exit code 0.`,
		Args: arguments(0, 1, "at most PREFIX"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			prefix := strings.Join(args, "")
			if err := keys.CheckPrefix(prefix); err != nil {
				return misuse(cmd, err)
			}
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				return a.watch(cmd.Context(), c, prefix, cfg.Output)
			})
		}),
	}
}

func (a *app) watch(ctx context.Context, c *client.Client, prefix, format string) error {
	for e, err := range c.Watch(ctx, prefix) {
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if err := a.tell(format, eventOf(e, time.Now())); err != nil {
			return err
		}
	}
	return nil
}

func eventOf(e client.Event, now time.Time) event {
	return event{now.UTC().Truncate(time.Millisecond), e.Kind, e.Claim.Lock, e.Revision, claimOf(e.Claim)}
}

// tell writes one event.
func (a *app) tell(format string, e event) error {
	return a.printNow(format, e, func() string { return e.line(a.screen(a.Stdout)) })
}

// line is the event for people.
func (e event) line(on screen) string {
	kind := on.paint(colourOf(e.Event), fmt.Sprintf("%-9s", e.Event))
	line := fmt.Sprintf("%s  %s  %s  token %v  %s", e.Time.Local().Format("15:04:05.000"), kind, visible(e.Lock), e.Claim.Token, e.Claim.who())
	if e.Claim.Mode != keys.Exclusive {
		line += "  " + e.Claim.Mode
	}
	if labels := labelText(e.Claim.Labels); labels != "" {
		line += "  " + labels
	}
	return line
}

func colourOf(kind client.EventKind) string {
	switch kind {
	case client.Acquired:
		return green
	case client.Lost, client.Broken:
		return red
	case client.Waiting:
		return yellow
	}
	return dim
}
