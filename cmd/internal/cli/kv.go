package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

func newKVCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kv",
		Short: "Read and write the records behind a lock's fence",
		Long: `Read and write the records behind a lock's fence.

GUARD is the lock that guards the records. Every command runs under a sequencer
of that lock, as a holder has it: under "fencelock lock GUARD -- COMMAND" it is in
` + sequencerVariable + `, and under several locks in ` + sequencersVariable + `. The first command of a holder, a read too, raises the fence: from then
on the store refuses all older holders, with exit code 3.`,
		Example: `  fencelock lock acct -- sh -c 'fencelock kv put acct balance 10'
  fencelock kv get acct balance --sequencer acct#33
  fencelock kv list acct --peek`,
		Args: noSuchCommand,
		RunE: commandMissing,
	}
	cmd.AddCommand(newKVGetCommand(a), newKVListCommand(a), newKVPutCommand(a), newKVDelCommand(a))
	return cmd
}

// guarded is what the kv commands have in common. guard and key come from the
// arguments, the rest from flags.
type guarded struct {
	*app
	guard, key  string
	sequencer   string
	peek        bool
	base64, raw bool
}

func (g *guarded) addSequencerFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.sequencer, "sequencer", "", "the holder's sequencer, LOCK#TOKEN (default "+sequencerVariable+", or the one of GUARD in "+sequencersVariable+")")
}

func (g *guarded) addPeekFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&g.peek, "peek", false, "read without a sequencer; moves no fence, so write nothing back on the strength of it")
}

// opened is a guard's records, and the configuration that led there.
type opened struct {
	client *client.Client
	config config.Config
	kv     *kv.KV // nil with --peek
}

// open checks what was asked for, before any request, and runs f.
func (g *guarded) open(cmd *cobra.Command, f func(opened) error) error {
	if err := keys.CheckName(g.guard); err != nil {
		return misuse(cmd, err)
	}
	seq, err := g.sequencerFor(cmd)
	if err != nil {
		return err
	}
	return g.withClient(cmd, func(c *client.Client, cfg config.Config) error {
		at := opened{client: c, config: cfg}
		if !g.peek {
			if at.kv, err = c.KV(seq); err != nil {
				return misuse(cmd, err)
			}
		}
		return f(at)
	})
}

// sequencerFor finds the sequencer and refuses that of another lock.
func (g *guarded) sequencerFor(cmd *cobra.Command) (fencing.Sequencer, error) {
	given := cmd.Flags().Changed("sequencer")
	if g.peek {
		if given {
			return fencing.Sequencer{}, usagef(cmd, "--peek reads without a sequencer; give one of --peek and --sequencer")
		}
		return fencing.Sequencer{}, nil
	}
	text := g.sequencer
	if !given {
		text = g.fromEnvironment()
	}
	if text == "" {
		return fencing.Sequencer{}, usagef(cmd, `no sequencer; run it under "fencelock lock %s -- COMMAND", or pass --sequencer`, g.guard)
	}
	seq, err := fencing.ParseSequencer(text)
	if err != nil {
		return fencing.Sequencer{}, misuse(cmd, err)
	}
	if seq.Lock != g.guard {
		return fencing.Sequencer{}, misuse(cmd, fmt.Errorf("%w: %s does not open the records of %q; take that lock", fencing.ErrWrongGuard, seq, g.guard))
	}
	return seq, nil
}

// fromEnvironment is the sequencer that "fencelock lock" gave: of several, the one
// of the guard, and if there is none of it any, for an error that names it.
func (g *guarded) fromEnvironment() string {
	if one := g.env(sequencerVariable); one != "" {
		return one
	}
	lines := strings.Fields(g.env(sequencersVariable))
	for _, line := range lines {
		if seq, err := fencing.ParseSequencer(line); err == nil && seq.Lock == g.guard {
			return line
		}
	}
	if len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// peekConfig is for reads without a token.
func (o opened) peekConfig() kv.Config {
	return kv.Config{Namespace: o.config.Client.Namespace, Timeout: o.config.Client.DialTimeout}
}
