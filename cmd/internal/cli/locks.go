package cli

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
)

// lockState is one lock that somebody claims.
type lockState struct {
	Name     string  `json:"name"`
	Holders  []claim `json:"holders"`
	Waiters  []claim `json:"waiters"`         // in the order in which they will hold
	Revision int64   `json:"revision,string"` // of the store, when this was read

	now time.Time
}

type lockStates []lockState

// lockTree is the same list, for people who think of names as of paths.
type lockTree lockStates

func newLocksCommand(a *app) *cobra.Command {
	tree := false
	cmd := &cobra.Command{
		Use:   "locks [PREFIX]",
		Short: "List the locks that are held",
		Long: `List the locks that are held and whose names begin with PREFIX, all without one:
name, token, holder, when it asked for the lock, the time that its session has
left, how many wait, and labels. --tree shows the names as a tree. -o json has all
waiters. "fencelock inspect NAME" tells more about one lock.`,
		Args: arguments(0, 1, "at most PREFIX"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			prefix := strings.Join(args, "")
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				if tree && cfg.Output != "table" {
					return usagef(cmd, "--tree is for people; leave -o %s out", cfg.Output)
				}
				list, err := readLocks(cmd.Context(), c, prefix)
				switch {
				case err != nil:
					return err
				case tree:
					return a.print(cfg.Output, lockTree(list))
				}
				return a.print(cfg.Output, list)
			})
		}),
	}
	cmd.Flags().BoolVar(&tree, "tree", false, "show the names as a tree")
	return cmd
}

func readLocks(ctx context.Context, c *client.Client, prefix string) (lockStates, error) {
	list := lockStates{}
	now := time.Now()
	for info, err := range c.Locks(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		list = append(list, lockStateOf(info, now))
	}
	var holders []*claim
	for _, l := range list {
		holders = append(holders, pointers(l.Holders)...)
	}
	askSessions(ctx, c, holders)
	return list, nil
}

func lockStateOf(info client.LockInfo, now time.Time) lockState {
	return lockState{info.Name, claimsOf(info.Holders), claimsOf(info.Waiters), info.Revision, now}
}

func lockHeader(w io.Writer) {
	row(w, "NAME", "TOKEN", "HOLDER", "CLAIMED", "TTL LEFT", "WAITERS", "LABELS")
}

func (list lockStates) table(w io.Writer) {
	lockHeader(w)
	for _, l := range list {
		l.rows(w, visible(l.Name))
	}
}

// rows writes one row for each holder.
func (l lockState) rows(w io.Writer, name string) {
	for _, h := range l.Holders {
		row(w, name, h.Token.String(), h.who(), h.age(l.now), h.left(), strconv.Itoa(len(l.Waiters)), labelText(h.Labels))
	}
}

func labelText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, visible(key+"="+labels[key]))
	}
	return strings.Join(parts, " ")
}

// branch is a part of the tree: a segment of names, and what lies below it.
type branch struct {
	lock  *lockState
	below map[string]*branch
}

func (list lockTree) table(w io.Writer) {
	root := branch{}
	for i, l := range list {
		at := &root
		for segment := range strings.SplitSeq(l.Name, "/") {
			at = at.grow(segment)
		}
		at.lock = &list[i]
	}
	lockHeader(w)
	root.rows(w, "")
}

func (b *branch) grow(segment string) *branch {
	if b.below == nil {
		b.below = map[string]*branch{}
	}
	if b.below[segment] == nil {
		b.below[segment] = &branch{}
	}
	return b.below[segment]
}

func (b *branch) rows(w io.Writer, indent string) {
	for _, segment := range slices.Sorted(maps.Keys(b.below)) {
		below := b.below[segment]
		name := indent + visible(segment)
		if len(below.below) > 0 {
			name += "/"
		}
		if below.lock != nil {
			below.lock.rows(w, name)
		} else {
			row(w, name, "", "", "", "", "", "")
		}
		below.rows(w, indent+"  ")
	}
}
