package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cluster/members"
)

func newMemberRemoveCommand(a *app) *cobra.Command {
	var o changeOptions
	cmd := &cobra.Command{
		Use:   "remove NAME|ID",
		Short: "Remove a member for good",
		Long: `Remove a member for good, running or dead. It is refused if the members that are left
could not decide anything, and for the last member. A leader hands over first. The
process of a removed member ends by itself; its data folder is of no more use.`,
		Args: arguments(1, 1, "NAME or ID"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			return a.withMembers(cmd, o.wait, func(ctx context.Context, r *roster) error { return r.removeOne(ctx, args[0], o) })
		}),
	}
	o.addFlags(cmd, true)
	return cmd
}

func (r *roster) removeOne(ctx context.Context, who string, o changeOptions) error {
	m, list, err := r.find(ctx, who)
	if err != nil {
		return err
	}
	states := r.survey(ctx, list)
	if err := members.CheckRemove(states, m.ID); err != nil {
		return fmt.Errorf("member %s is not removed: %w", m, err)
	}
	if err := r.confirm(o, fmt.Sprintf("Remove member %s (id %s) for good?", m, m.Hex())); err != nil {
		return err
	}
	if list, err = r.remove(ctx, states, m); err != nil {
		return err
	}
	r.warn(list)
	return r.app.print(r.cfg.Output, changed{ID: m.Hex(), Name: m.Name, Change: "removed", hint: "; its process ends by itself, and its data folder can be deleted"})
}
