package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// changed is a member after a change.
type changed struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Change string `json:"change"` // "promoted" or "removed"
	hint   string
}

func newMemberPromoteCommand(a *app) *cobra.Command {
	var o changeOptions
	cmd := &cobra.Command{
		Use:   "promote NAME|ID",
		Short: "Give a learner that has caught up its vote",
		Long: `Give a learner its vote, once it has caught up. A member that was started with
"fencelock server --join" does so itself.`,
		Args: arguments(1, 1, "NAME or ID"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			return a.withMembers(cmd, o.wait, func(ctx context.Context, r *roster) error { return r.promote(ctx, args[0]) })
		}),
	}
	o.addFlags(cmd, false)
	return cmd
}

func (r *roster) promote(ctx context.Context, who string) error {
	m, _, err := r.find(ctx, who)
	if err != nil {
		return err
	}
	list, err := r.change.Promote(ctx, m.ID)
	if err != nil {
		return err
	}
	r.warn(list)
	return r.app.print(r.cfg.Output, changed{ID: m.Hex(), Name: m.Name, Change: "promoted"})
}

func (c changed) table(w io.Writer) {
	row(w, c.Change+" "+visibleOr(c.Name, "a member without a name")+", id "+c.ID+c.hint)
}
