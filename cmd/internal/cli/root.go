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
	a := &app{Process: p}
	root := newRootCommand(a)
	root.SetArgs(append([]string{}, p.Args...)) // nil would mean os.Args to cobra
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	a.printError(err)
	a.note(a.whyNoAnswer(ctx, err)...)
	return codeOf(cmd, err)
}

func (a *app) printError(err error) {
	var own *exitError
	if err == nil || (errors.As(err, &own) && own.err == nil) {
		return
	}
	for line := range strings.Lines(err.Error()) {
		a.note(strings.TrimSuffix(line, "\n"))
	}
}

// note says something on standard error, each on a line of its own.
func (a *app) note(notes ...string) {
	for _, note := range notes {
		if note != "" {
			fmt.Fprintf(a.Stderr, "%s %s\n", a.screen(a.Stderr).paint(red, "fencelock:"), note)
		}
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
		newInspectCommand(a),
		newWatchCommand(a),
		newTopCommand(a),
		newBreakCommand(a),
		newKVCommand(a),
		newCheckCommand(a),
		newStatusCommand(a),
		newHealthCommand(a),
		newSnapshotCommand(a),
		newMemberCommand(a),
		newDefragCommand(a),
		newAlarmCommand(a),
		newCertCommand(a),
		newAuthCommand(a),
		newBenchCommand(a),
		newConfigCommand(a),
		newCompletionCommand(a),
		newManCommand(a),
		newVersionCommand(a),
	)
	addCompletions(a, root)
	return root
}
