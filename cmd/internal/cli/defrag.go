package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/upkeep"
	"github.com/fencelock/fencelock/config"
)

// defragShare is the free share of a database from which defragmenting is worth
// the time; members have the same on schedule.
const defragShare = 0.5

func newDefragCommand(a *app) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:   "defrag",
		Short: "Give the disk back what the members' databases do not use",
		Long: `Give the disk back what the members' databases do not use. Members do this on
their own (server --defrag), one at a time; this command does the same now: followers
first, and the leader after it has handed leadership over. A member answers nothing
while what is in use of its database is written anew; clients turn to others. A cluster of one member has no others.

Members whose database is at least half in use are left alone, unless --now is given.`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				least := defragShare
				if now {
					least = 0
				}
				list := defragmented{}
				err := upkeep.Defragment(cmd.Context(), c.Etcd(), least, list.add)
				if len(list) > 0 || err == nil {
					if printed := a.print(cfg.Output, list); err == nil {
						err = printed
					}
				}
				if err != nil {
					return explainAuth(err, fmt.Errorf("defrag: %w", err))
				}
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(&now, "now", false, "every member, however little it gives back")
	return cmd
}

// defragmentedMember is what became of one member.
type defragmentedMember struct {
	Name    string `json:"name"`
	Skipped bool   `json:"skipped"` // too little to give back
	Before  int64  `json:"before"`  // bytes
	After   int64  `json:"after"`
	Took    int64  `json:"took_ms"`
}

type defragmented []defragmentedMember

func (d *defragmented) add(m upkeep.Defragmented) {
	*d = append(*d, defragmentedMember{m.Name, m.Skipped, m.Size, m.After, m.Took.Milliseconds()})
}

func (d defragmented) table(w io.Writer) {
	row(w, "NAME", "BEFORE", "AFTER", "TOOK")
	for _, m := range d {
		took := (time.Duration(m.Took) * time.Millisecond).String()
		if m.Skipped {
			took = "skipped"
		}
		row(w, visible(m.Name), bytesText(m.Before), bytesText(m.After), took)
	}
}
