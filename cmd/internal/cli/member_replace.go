package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cluster/members"
)

// replaceOptions are the flags of member replace.
type replaceOptions struct {
	changeOptions
	peer  string
	force bool
}

func newMemberReplaceCommand(a *app) *cobra.Command {
	var o replaceOptions
	cmd := &cobra.Command{
		Use:   "replace NAME|ID",
		Short: "Replace a dead member whose data is gone",
		Long: `Replace a dead member whose data is gone: remove it, add its successor as a learner, and
print the command to run on the successor's host, with an empty data folder. The
successor has the peer address of the dead one unless --peer says otherwise.

Interrupted, the same command goes on; with --peer, or for a member that is named
by its address, even after the dead one has left the list.`,
		Args: arguments(1, 1, "NAME or ID"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			return a.withMembers(cmd, o.wait, func(ctx context.Context, r *roster) error { return r.replace(ctx, args[0], o) })
		}),
	}
	o.addFlags(cmd, true)
	cmd.Flags().StringVar(&o.peer, "peer", "", "peer address of the successor (default: that of the member)")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a member that is alive")
	return cmd
}

func (r *roster) replace(ctx context.Context, who string, o replaceOptions) error {
	list, err := r.change.List(ctx)
	if err != nil {
		return err
	}
	old, there := list.Find(who)
	if !there {
		return r.resumeReplace(ctx, list, who, o)
	}
	peers := old.Peers
	if o.peer != "" {
		if peers, err = peerURLs(list, o.peer); err != nil {
			return &usageError{err: err}
		}
	}
	if old.Name == "" && slices.Equal(old.Peers, peers) { // its successor: this command was interrupted before
		return r.add(ctx, list, peers, old)
	}
	if err := r.retire(ctx, list, old, peers, o); err != nil {
		return err
	}
	if list, err = r.change.List(ctx); err != nil {
		return err
	}
	return r.add(ctx, list, peers, old)
}

// retire removes the old member, after all that can be checked.
func (r *roster) retire(ctx context.Context, list members.List, old members.Member, peers []string, o replaceOptions) error {
	if other, taken := list.At(peers); taken && other.ID != old.ID {
		return fmt.Errorf("%s is the address of member %s; pass another --peer", strings.Join(peers, ","), other)
	}
	states := r.survey(ctx, list)
	for _, s := range states {
		if s.ID == old.ID && s.Reachable && !o.force {
			return fmt.Errorf("member %s is alive, it answers at %s; to move it to another host, let the new one join and remove this one; --force replaces it all the same", old, s.Endpoint)
		}
	}
	if err := members.CheckRemove(states, old.ID); err != nil {
		return fmt.Errorf("member %s is not replaced: %w", old, err)
	}
	if err := r.confirm(o.changeOptions, fmt.Sprintf("Replace member %s (id %s) by an empty one at %s?", old, old.Hex(), strings.Join(peers, ","))); err != nil {
		return err
	}
	r.tell(fmt.Sprintf("removing %s; if this is interrupted, finish it with: fencelock member replace %s --peer %s", old, visible(old.Name), strings.Join(peers, ",")))
	_, err := r.remove(ctx, states, old)
	return err
}

// resumeReplace goes on where the old member has left the list already. Should who
// be a misspelt member that is dead, etcd refuses the successor as long as that one
// is in the list.
func (r *roster) resumeReplace(ctx context.Context, list members.List, who string, o replaceOptions) error {
	address := o.peer
	if address == "" {
		address = who
	}
	peers, err := peerURLs(list, address)
	if err != nil {
		return fmt.Errorf("member %q: %w; \"fencelock member list\" shows all; if it was removed already, say with --peer where its successor is to be", who, errNotFound)
	}
	r.tell(fmt.Sprintf("no member %q: taken as removed already", who))
	return r.add(ctx, list, peers, members.Member{})
}
