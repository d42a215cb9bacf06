package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/config"
)

// Process is what the operating system gives to a command.
type Process struct {
	Args           []string // without the program's name
	Env            []string // as os.Environ
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Main carries out one command line and returns its exit code. The end of ctx
// interrupts it.
func Main(ctx context.Context, p Process) int {
	root := newRootCommand(&app{Process: p})
	root.SetArgs(append([]string{}, p.Args...)) // nil would mean os.Args to cobra
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	printError(p.Stderr, err)
	return codeOf(cmd, err)
}

func printError(w io.Writer, err error) {
	var own *exitError
	if err == nil || (errors.As(err, &own) && own.err == nil) {
		return
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "fencelock: %s\n", strings.TrimSuffix(line, "\n"))
	}
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "fencelock",
		Short: "Locks whose tokens your data can check",
		Long: `Locks whose tokens your data can check.

A process that pauses past its lock's time to live wakes up still believing that
it holds the lock. fencelock gives every holder a token that rises with each
grant, and a store that refuses the work of an older one.

"fencelock demo" shows it on a real cluster.`,
		Args:              noSuchCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(explainFlag)
	root.PersistentFlags().StringVar(&a.file, "config", "", "YAML file of settings (also "+config.FileVariable+")")
	config.AddFlags(root.PersistentFlags(), config.GlobalKeys()...)
	root.AddCommand(
		newDemoCommand(a),
		newServerCommand(a),
		newLockCommand(a),
		newGateCommand(),
		newKeeperCommand(a),
		newLocksCommand(a),
		newKVCommand(a),
		newCheckCommand(a),
		newStatusCommand(a),
		newSnapshotCommand(a),
		newMemberCommand(a),
		newDefragCommand(a),
		newAlarmCommand(a),
		newCertCommand(a),
		newAuthCommand(a),
		newVersionCommand(a),
	)
	return root
}
