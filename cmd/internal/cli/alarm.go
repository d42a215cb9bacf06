package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/upkeep"
	"github.com/fencelock/fencelock/config"
)

func newAlarmCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alarm",
		Short: "See and clear what members have raised the alarm about",
		Long: `See and clear what members have raised the alarm about.

  NOSPACE   the store has reached its quota (server --quota): locks can be given
            back and renewed and records deleted, but nothing can be put
  CORRUPT   the data of two members differ: replace the one that is named`,
		Args: noSuchCommand,
		RunE: commandMissing,
	}
	cmd.AddCommand(newAlarmListCommand(a), newAlarmClearCommand(a))
	return cmd
}

func newAlarmListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the alarms that stand",
		Args:  arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				alarms, err := upkeep.Alarms(cmd.Context(), c.Etcd())
				if err != nil {
					return explainAuth(err, fmt.Errorf("alarm list: %w", err))
				}
				names := memberNames(cmd.Context(), c.Etcd())
				list := alarmList{}
				for _, raised := range alarms {
					list = append(list, alarm{raised.Kind, hex(raised.Member), names[raised.Member]})
				}
				return a.print(cfg.Output, list)
			})
		}),
	}
}

func newAlarmClearCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "clear",
		Short: "Make room in a full store, and end its alarm",
		Long: `Make room in a full store, and end its alarm: history is compacted, members are
defragmented one by one, the leader last, and if a tenth of the quota is free then,
the alarm ends. Else it stays, since it would be raised again at once.`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				list := defragmented{}
				if err := upkeep.Clear(cmd.Context(), c.Etcd(), list.add); err != nil {
					return explainAuth(err, fmt.Errorf("alarm clear: %w", err))
				}
				return a.print(cfg.Output, list)
			})
		}),
	}
}

type alarm struct {
	Kind     string `json:"alarm"`
	MemberID string `json:"member_id"` // in hex
	Member   string `json:"member"`
}

type alarmList []alarm

func (l alarmList) table(w io.Writer) {
	row(w, "ALARM", "MEMBER")
	for _, raised := range l {
		row(w, raised.Kind, visibleOr(raised.Member, raised.MemberID))
	}
}
