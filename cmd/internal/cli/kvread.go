package cli

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

func newKVGetCommand(a *app) *cobra.Command {
	g := &guarded{app: a}
	cmd := &cobra.Command{
		Use:   "get GUARD KEY",
		Short: "Print one record",
		Long: `Print one record's value, byte for byte. On a terminal a line break ends text that
has none, and what is no text is shown quoted, unless --raw is given. --base64
prints the value in base64, and a line break.

With -o json or yaml: key, value and revision; a value that is no UTF-8 is in
base64, as "encoding" says, and with --base64 every value is. A key that does not
exist is exit code 4.`,
		Args: arguments(2, 2, "GUARD and KEY"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			g.guard, g.key = args[0], args[1]
			if err := keys.CheckKey(g.key); err != nil {
				return misuse(cmd, err)
			}
			if g.raw && g.base64 {
				return usagef(cmd, "--raw and --base64 exclude each other")
			}
			return g.open(cmd, func(at opened) error {
				if g.raw && at.config.Output != "table" {
					return usagef(cmd, "--raw prints bytes; leave -o %s out", at.config.Output)
				}
				return g.get(cmd.Context(), at)
			})
		}),
	}
	g.addSequencerFlag(cmd)
	g.addPeekFlag(cmd)
	cmd.Flags().BoolVar(&g.base64, "base64", false, "print the value in base64")
	cmd.Flags().BoolVar(&g.raw, "raw", false, "print the value's bytes and nothing else, on a terminal too")
	return cmd
}

func (g *guarded) get(ctx context.Context, at opened) error {
	found, err := g.read(ctx, at)
	if err != nil {
		return err
	}
	if !found.Found {
		return fmt.Errorf("get %q of %q: %w", g.key, g.guard, errNotFound)
	}
	switch {
	case at.config.Output != "table":
		return g.print(at.config.Output, g.recordOf(found))
	case g.base64:
		return g.write(base64.StdEncoding.EncodeToString(found.Value) + "\n")
	case g.raw || !isTerminal(g.Stdout):
		return g.write(string(found.Value))
	}
	return g.write(onTerminal(found.Value))
}

func (g *guarded) read(ctx context.Context, at opened) (kv.Record, error) {
	if g.peek {
		return kv.Peek(ctx, at.client.Etcd(), g.guard, g.key, at.peekConfig())
	}
	return at.kv.Get(ctx, g.key)
}

func newKVListCommand(a *app) *cobra.Command {
	g := &guarded{app: a}
	cmd := &cobra.Command{
		Use:   "list GUARD [PREFIX]",
		Short: "Print the records whose keys begin with PREFIX",
		Long: `Print the records whose keys begin with PREFIX, all of them without one, in the
order of their keys. In the table, what is not printable is shown quoted, as in Go.
With -o json or yaml, a key or value that is no UTF-8 is in base64, as
"key_encoding" and "encoding" say; with --base64 every value is.`,
		Args: arguments(1, 2, "GUARD and perhaps PREFIX"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			g.guard = args[0]
			if len(args) == 2 {
				g.key = args[1]
			}
			if err := keys.CheckKeyPrefix(g.key); err != nil {
				return misuse(cmd, err)
			}
			return g.open(cmd, func(at opened) error { return g.list(cmd.Context(), at) })
		}),
	}
	g.addSequencerFlag(cmd)
	g.addPeekFlag(cmd)
	cmd.Flags().BoolVar(&g.base64, "base64", false, "print the values in base64")
	return cmd
}

func (g *guarded) list(ctx context.Context, at opened) error {
	found, err := g.readAll(ctx, at)
	if err != nil {
		return err
	}
	list := records{}
	for _, r := range found {
		list = append(list, g.recordOf(r))
	}
	return g.print(at.config.Output, list)
}

func (g *guarded) readAll(ctx context.Context, at opened) ([]kv.Record, error) {
	if g.peek {
		return kv.PeekList(ctx, at.client.Etcd(), g.guard, g.key, at.peekConfig())
	}
	return at.kv.List(ctx, g.key)
}
