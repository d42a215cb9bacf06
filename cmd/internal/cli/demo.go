package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cmd/internal/demo"
)

// demoWorker is the name of demo's hidden subcommand.
const demoWorker = "worker"

func newDemoCommand(a *app) *cobra.Command {
	var html pictureFile
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what a pause does to a lock, and what a fence does about it",
		Long: `Show what a pause does to a lock, and what a fence does about it.

Starts a three-member cluster in this process, on free ports of 127.0.0.1 and
with its data in a temporary folder, and two worker processes, A and B. A is
stopped with SIGSTOP right before it writes, for longer than its lock's time to
live; B gets the lock meanwhile. Two cases are played, each with a file that the
lock alone guards and with data behind the lock's fence:

  late-writer   A's write goes out after B has read and written
  crossing      A's write goes out after B has read, and before B writes

It takes some 15 seconds and leaves nothing behind. It exits with 1 if a run did
not end as it must: an update lost without the fence, none with it.

--html draws the runs, from what really happened, as one file that needs nothing
else.`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error { return runDemo(a, cmd, html) }),
	}
	html.addFlag(cmd.Flags(), "the runs")
	cmd.AddCommand(newDemoWorkerCommand(a))
	return cmd
}

// newDemoWorkerCommand is for the demo itself, which starts its workers with it.
func newDemoWorkerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    demoWorker,
		Short:  "Be a worker of the demo, which talks over standard input and output",
		Hidden: true,
		Args:   arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo.Work(cmd.Context(), a.Stdin, a.Stdout)
		},
	}
}

func runDemo(a *app, cmd *cobra.Command, html pictureFile) error {
	cfg, err := a.loadConfig(cmd)
	if err != nil {
		return err
	}
	if err := html.check(cmd); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("demo: find this program, to start the workers: %w", err)
	}
	// A closed terminal, and a reader of the output that goes away, end the demo
	// too: it must not leave its folder behind.
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	var timeline io.Writer
	if cfg.Output == "table" {
		timeline = a.Stdout
	}
	report, err := demo.Run(ctx, demo.Config{Worker: []string{program, cmd.Name(), demoWorker}, Text: timeline})
	if err != nil {
		return &exitError{codeFailure, fmt.Errorf("demo: %w", err)}
	}
	return errors.Join(a.demoVerdict(report, cfg.Output), html.write(report.WriteHTML))
}

// demoVerdict prints the report, unless the timeline has said it all, and fails if
// a run did not end as it must.
func (a *app) demoVerdict(report demo.Report, format string) error {
	var printing error
	if format != "table" {
		printing = a.print(format, demoReport{report})
	}
	if err := report.Check(); err != nil {
		err = fmt.Errorf("demo: not every run ended as it must; please report this, with the demo's output:\n%w", err)
		return &exitError{codeFailure, errors.Join(err, printing)}
	}
	return printing
}

// demoReport has no table: the timeline ends with one.
type demoReport struct{ demo.Report }

func (demoReport) table(io.Writer) {}
