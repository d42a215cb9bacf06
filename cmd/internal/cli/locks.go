package cli

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing"
)

// claim is one entry in a lock's queue.
type claim struct {
	Token  fencing.Token     `json:"token"`
	Owner  string            `json:"owner"` // empty: a foreign client, which does not say
	Key    string            `json:"key"`   // in etcd
	Mode   string            `json:"mode"`
	Since  time.Time         `json:"since,omitzero"` // by its owner's clock
	Labels map[string]string `json:"labels,omitempty"`
	Lease  string            `json:"lease"` // in hex, as etcdctl shows it; "0": it never ends
}

// lockState is one lock that somebody claims.
type lockState struct {
	Name     string  `json:"name"`
	Holders  []claim `json:"holders"`
	Waiters  []claim `json:"waiters"`         // in the order in which they will hold
	Revision int64   `json:"revision,string"` // of the store, when this was read

	now time.Time
}

type lockStates []lockState

func newLocksCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "locks [PREFIX]",
		Short: "List the locks that are held",
		Long: `List the locks that are held and whose names begin with PREFIX, all without one:
name, token, holder, when it asked for the lock, and how many wait. -o json has all waiters.`,
		Args: arguments(0, 1, "at most PREFIX"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			prefix := ""
			if len(args) == 1 {
				prefix = args[0]
			}
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				list, err := readLocks(cmd.Context(), c, prefix)
				if err != nil {
					return err
				}
				return a.print(cfg.Output, list)
			})
		}),
	}
}

func readLocks(ctx context.Context, c *client.Client, prefix string) (lockStates, error) {
	list := lockStates{}
	now := time.Now()
	for info, err := range c.Locks(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		list = append(list, lockState{info.Name, claimsOf(info.Holders), claimsOf(info.Waiters), info.Revision, now})
	}
	return list, nil
}

func claimsOf(claims []client.Claim) []claim {
	list := []claim{}
	for _, c := range claims {
		list = append(list, claim{c.Token, c.Owner, c.Key, c.Mode, c.Since, c.Labels, strconv.FormatInt(c.Lease, 16)})
	}
	return list
}

func (list lockStates) table(w io.Writer) {
	row(w, "NAME", "TOKEN", "HOLDER", "CLAIMED", "WAITERS")
	for _, l := range list {
		for _, h := range l.Holders {
			row(w, visible(l.Name), h.Token.String(), h.who(), h.age(l.now), strconv.Itoa(len(l.Waiters)))
		}
	}
}

// who names the claim's owner.
func (c claim) who() string {
	if c.Owner == "" {
		return "unnamed, key " + visible(c.Key)
	}
	return visible(c.Owner)
}

// age is how long ago the claim was put: it may have waited since. The owner's
// clock may be ahead.
func (c claim) age(now time.Time) string {
	if c.Since.IsZero() {
		return "?"
	}
	return max(now.Sub(c.Since), 0).Round(time.Second).String() + " ago"
}
