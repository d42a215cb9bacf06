package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// inspectedWaiters is of how many waiters the sessions are asked for.
const inspectedWaiters = 50

// inspection is all that can be said about one lock.
type inspection struct {
	lockState
	Fence    *fence   `json:"fence"`    // null: nobody has claimed it yet, or it could not be read
	Findings []string `json:"findings"` // for people; the words may change
	Deadlock []string `json:"deadlock"` // the owners of sessions that wait for each other, in a circle
}

// fence is where the fence of the fenced store stands.
type fence struct {
	Token fencing.Token `json:"token"` // the highest that it has admitted
	State string        `json:"state"` // how that came, one of the words below
}

// The states of a fence.
const (
	fenceClaimed = "claimed" // by the exclusive holder of the token
	fenceShared  = "shared"  // by shared holders
	fenceClosed  = "closed"  // above the token, by a break or a restore
)

func newInspectCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect NAME",
		Short: "Tell all about one lock, and why it is stuck",
		Long: `Tell all about one lock: who holds it, with what token, and how long the holder's
session lives if it is not renewed; who waits, in the order in which they will
hold; where the fence stands; and what may keep the lock from moving: a holder
that does not renew, a claim that never ends, a holder that waits for another
lock itself, sessions that wait for each other in a circle.

A lock that nobody claims is free: exit code 0.`,
		Args: arguments(1, 1, "NAME"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			if err := keys.CheckName(args[0]); err != nil {
				return misuse(cmd, err)
			}
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				found, err := inspect(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				return a.print(cfg.Output, found)
			})
		}),
	}
}

// inspect reads one lock. A fence that cannot be read is a finding, beside the rest.
func inspect(ctx context.Context, c *client.Client, name string) (inspection, error) {
	info, err := c.Inspect(ctx, name)
	if err != nil && info.Name == "" {
		return inspection{}, err
	}
	found := inspection{lockState: lockStateOf(info, time.Now()), Fence: fenceOf(info), Findings: []string{}, Deadlock: []string{}}
	if err != nil {
		found.find("%v", err)
	}
	asked := append(pointers(found.Holders), pointers(found.Waiters[:min(len(found.Waiters), inspectedWaiters)])...)
	askSessions(ctx, c, asked)
	found.diagnose()
	if len(found.Waiters) > 0 {
		found.followWaits(ctx, c)
	}
	return found, nil
}

// fenceOf is where the fence stands, nil if nobody has claimed it.
func fenceOf(info client.LockInfo) *fence {
	switch {
	case info.Fence == 0:
		return nil
	case info.FenceClosed:
		return &fence{info.Fence, fenceClosed}
	case info.FenceShared:
		return &fence{info.Fence, fenceShared}
	}
	return &fence{info.Fence, fenceClaimed}
}

func (i inspection) table(w io.Writer) {
	row(w, "lock "+visible(i.Name)+": "+i.state())
	row(w, "fence: "+i.Fence.text())
	if len(i.Holders)+len(i.Waiters) > 0 {
		row(w, "")
		row(w, "PLACE", "TOKEN", "OWNER", "MODE", "CLAIMED", "TTL LEFT", "LABELS")
	}
	for _, h := range i.Holders {
		i.row(w, "holds", h)
	}
	for n, waiter := range i.Waiters {
		i.row(w, strconv.Itoa(n+1)+".", waiter)
	}
	if len(i.Findings) > 0 {
		row(w, "")
	}
	for _, finding := range i.Findings {
		row(w, "! "+finding)
	}
}

func (i inspection) row(w io.Writer, place string, c claim) {
	row(w, place, c.Token.String(), c.who(), c.Mode, c.age(i.now), c.left(), labelText(c.Labels))
}

func (i inspection) state() string {
	switch {
	case len(i.Holders) == 0:
		return "free"
	case len(i.Waiters) > 0:
		return fmt.Sprintf("held, %d waiting", len(i.Waiters))
	}
	return "held, nobody waits"
}

func (f *fence) text() string {
	switch {
	case f == nil:
		return "not claimed yet"
	case f.State == fenceClosed:
		return "closed above token " + f.Token.String()
	case f.State == fenceShared:
		return "claimed by shared holders, at token " + f.Token.String()
	}
	return "claimed by token " + f.Token.String()
}
