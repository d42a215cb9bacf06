package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/fencing/keys"
)

// maxValue is more than any member takes in one request (cluster.Config).
const maxValue = 10 << 20

func newKVPutCommand(a *app) *cobra.Command {
	g := &guarded{app: a}
	cmd := &cobra.Command{
		Use:   "put GUARD KEY VALUE",
		Short: "Write one record",
		Long: `Write one record. VALUE "-" means what comes on standard input, byte for byte. A
value that begins with another "-" goes after "--": fencelock kv put acct balance -- -5
With --base64 the value is decoded from base64 first; spaces and line breaks in it
do not count.

It prints nothing; with -o json or yaml, the revision of the write. Exit code 5
means that no answer came: the write may have been applied. Read before you
repeat it.`,
		Args: arguments(3, 3, "GUARD, KEY and VALUE"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			g.guard, g.key = args[0], args[1]
			if err := keys.CheckKey(g.key); err != nil {
				return misuse(cmd, err)
			}
			return g.open(cmd, func(at opened) error { return g.put(cmd, at, args[2]) })
		}),
	}
	g.addSequencerFlag(cmd)
	cmd.Flags().BoolVar(&g.base64, "base64", false, "VALUE, or standard input, is base64")
	return cmd
}

func (g *guarded) put(cmd *cobra.Command, at opened, text string) error {
	value := []byte(text)
	if text == "-" {
		var err error
		if value, err = readValue(cmd.Context(), g.Stdin); err != nil {
			return misuse(cmd, err)
		}
	}
	if g.base64 {
		var err error
		if value, err = decodeBase64(value); err != nil {
			return usagef(cmd, "%w", err)
		}
	}
	revision, err := at.kv.Put(cmd.Context(), g.key, value)
	if err != nil {
		return err
	}
	return g.print(at.config.Output, written{keyOf(g.key), revision})
}

// readValue reads standard input to its end, or to ctx's.
func readValue(ctx context.Context, in io.Reader) ([]byte, error) {
	read, err := outlive(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(in, maxValue+1)) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the value: %w", err)
	case len(read) > maxValue:
		return nil, &usageError{err: fmt.Errorf("the value has more than %d bytes, which no member takes", maxValue)}
	}
	return read, nil
}

func newKVDelCommand(a *app) *cobra.Command {
	g := &guarded{app: a}
	cmd := &cobra.Command{
		Use:   "del GUARD KEY",
		Short: "Delete one record",
		Long: `Delete one record. The fence stays. A key that does not exist is exit code 4;
5 means that no answer came: the record may have been deleted.`,
		Args: arguments(2, 2, "GUARD and KEY"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			g.guard, g.key = args[0], args[1]
			if err := keys.CheckKey(g.key); err != nil {
				return misuse(cmd, err)
			}
			return g.open(cmd, func(at opened) error { return g.del(cmd.Context(), at) })
		}),
	}
	g.addSequencerFlag(cmd)
	return cmd
}

func (g *guarded) del(ctx context.Context, at opened) error {
	deleted, err := at.kv.Delete(ctx, g.key)
	if err != nil {
		return err
	}
	if !deleted {
		return fmt.Errorf("delete %q of %q: %w", g.key, g.guard, errNotFound)
	}
	return g.print(at.config.Output, removed{keyOf(g.key), true})
}
