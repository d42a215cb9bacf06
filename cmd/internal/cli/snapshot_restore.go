package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cluster/snapshot"
	"github.com/fencelock/fencelock/cmd/internal/words"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing/keys"
)

func newSnapshotRestoreCommand(a *app) *cobra.Command {
	var floor int64
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a snapshot the first data of a new cluster",
		Long: `Make a snapshot the first data of a new cluster: stage an edited copy in an empty data
folder, for "fencelock server" to start from. No lock is held in it, and every
token that it issues is above the floor: old sequencers and handles are refused,
and a resource that remembers a token from after the snapshot does not take its
new holder for an old one.

Run it on every host of the new cluster, with the same file and the same floor:
members that begin differently refuse to start. It prints the commands. First stop
every member of the old cluster.`,
		Args: arguments(1, 1, "FILE"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			if floor < 0 || (floor == 0 && cmd.Flags().Changed("floor")) {
				return usagef(cmd, "--floor %d: want a token above 0", floor)
			}
			cfg, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			restored, err := snapshot.Restore(cmd.Context(), snapshot.RestoreConfig{
				Snapshot: args[0], DataDir: cfg.Server.DataDir, Floor: floor,
				Namespaces: []string{cfg.Client.Namespace},
			})
			if err != nil {
				return fmt.Errorf("%s: %w", commandName(cmd), err)
			}
			if restored.ClockBehind {
				fmt.Fprintf(a.Stderr, "fencelock: %s: warning: this host's clock, %s, is behind the tokens of the snapshot, or wrong; if it is wrong, set it and restore again. "+
					"Tokens will be ahead of clocks from here on: give a number, not now, to a later --token-floor\n", commandName(cmd), time.Now().UTC().Format(time.RFC3339))
			}
			return a.print(cfg.Output, restoredState(restored, cfg))
		}),
	}
	cmd.Flags().Int64Var(&floor, "floor", 0,
		"what every token will be above (default: the microseconds since 1970)")
	config.AddFlags(cmd.Flags(), "server.data-dir", "server.name", "server.peers")
	return cmd
}

// restored is what was staged, and how to go on.
type restored struct {
	Snapshot   snapshotState `json:"snapshot"`
	DataDir    string        `json:"data_dir"`
	SHA256     string        `json:"sha256"` // of the staged database
	Floor      int64         `json:"floor,string"`
	Fences     int           `json:"fences"`  // closed at the floor
	Dropped    int           `json:"dropped"` // keys of locks and leases
	Namespaces []string      `json:"namespaces"`
	Others     string        `json:"others"` // command for every other host
	Start      string        `json:"start"`  // command for every host
}

func restoredState(r snapshot.Restored, cfg config.Config) restored {
	return restored{
		Snapshot: snapshotStateOf(r.Snapshot), DataDir: cfg.Server.DataDir, SHA256: r.Origin.Snapshot,
		Floor: r.Origin.Floor, Fences: r.Snapshot.Fences, Dropped: r.Dropped, Namespaces: r.Namespaces,
		Others: restoreCommand(r, cfg), Start: startCommand(cfg.Server),
	}
}

// restoreCommand is the command for the other hosts: without a name, which would
// be this one's.
func restoreCommand(r snapshot.Restored, cfg config.Config) string {
	words := []string{"fencelock", "snapshot", "restore", filepath.Base(r.Snapshot.Path),
		"--data-dir", cfg.Server.DataDir, "--floor", strconv.FormatInt(r.Origin.Floor, 10)}
	if cfg.Client.Namespace != keys.DefaultNamespace {
		words = append(words, "--namespace", cfg.Client.Namespace)
	}
	return shell(words)
}

func startCommand(s config.Server) string {
	words := []string{"fencelock", "server", "--data-dir", s.DataDir}
	if s.Name != "" {
		words = append(words, "--name", s.Name)
	}
	if len(s.Peers) > 0 {
		words = append(words, "--peers", strings.Join(s.Peers, ","))
	}
	return shell(words)
}

// shell joins words for a POSIX shell.
func shell(words []string) string {
	plain := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+=", r)
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, plain) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func (r restored) table(w io.Writer) {
	fmt.Fprintf(w, "Staged in %s: revision %d of %s, %s of locks and leases left out, %s closed.\n",
		r.DataDir, r.Snapshot.Revision, r.Snapshot.Path, words.Count(r.Dropped, "key"), words.Count(r.Fences, "fence"))
	fmt.Fprintf(w, "Every token will be above %d.\n\n", r.Floor)
	fmt.Fprintf(w, "On every other host of the new cluster, with a copy of the file:\n\n  %s\n\n", r.Others)
	fmt.Fprintf(w, "Then on every host, with the flags that it is always started with:\n\n  %s\n", r.Start)
}
