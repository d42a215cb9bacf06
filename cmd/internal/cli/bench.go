package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/bench"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing/keys"
)

// mostBenchClients bounds the connections that one process makes.
const mostBenchClients = 1000

// benchOptions are the flags of bench.
type benchOptions struct {
	*app
	clients  int
	duration time.Duration
	works    []string
	html     pictureFile
}

func newBenchCommand(a *app) *cobra.Command {
	o := &benchOptions{app: a, clients: 8, duration: 5 * time.Second}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a cluster",
		Long: `Measure a cluster: how long these take, and how many it does in a second.

  lock      lock and unlock, of a lock that nobody else wants
  handover  from one holder's unlock to the next one's lock, all for one lock
  shared    shared lock and unlock, all the same lock
  put       fenced write of 100 bytes
  get       fenced read

Each client has a connection and a session of its own. All locks are under
"` + bench.Prefix + `", with a name of this run's own, and what was written is deleted in
the end, also after an interruption. It is real load: mind who else uses the
cluster. --html draws how the times are distributed, as one file that needs
nothing else.`,
		Example: `  fencelock bench --endpoints a:2379,b:2379,c:2379
  fencelock bench --run lock,handover --clients 32 --duration 10s --html bench.html`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }),
	}
	flags := cmd.Flags()
	config.AddFlags(flags, "client.ttl")
	flags.Var(&numberValue{to: &o.clients, least: 1, most: mostBenchClients}, "clients", "how many do it side by side")
	flags.Var(&waitValue{to: &o.duration, given: true}, "duration", "how long, for each")
	flags.StringSliceVar(&o.works, "run", bench.Works(), "what to measure")
	o.html.addFlag(flags, "the distribution")
	return cmd
}

func (o *benchOptions) run(cmd *cobra.Command) error {
	cfg, err := o.loadConfig(cmd)
	if err != nil {
		return err
	}
	if err := o.check(cmd); err != nil {
		return err
	}
	space, err := keys.NewSpace(cfg.Client.Namespace)
	if err != nil {
		return misuse(cmd, err)
	}
	report, err := o.measure(cmd.Context(), cfg, space)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	draw := func(w io.Writer) error {
		return report.WriteHTML(w, time.Now(), strings.Join(cfg.Client.Endpoints, ", "))
	}
	if err := o.html.write(draw); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return o.print(cfg.Output, benchReport{report})
}

func (o *benchOptions) check(cmd *cobra.Command) error {
	for _, w := range o.works {
		if !slices.Contains(bench.Works(), w) {
			return usagef(cmd, "--run %q: want some of %s", w, strings.Join(bench.Works(), ", "))
		}
	}
	switch {
	case len(o.works) == 0:
		return usagef(cmd, "--run is empty: want some of %s", strings.Join(bench.Works(), ", "))
	case o.duration <= 0:
		return usagef(cmd, "--duration %v: want more than zero", o.duration)
	}
	return o.html.check(cmd)
}

func (o *benchOptions) measure(ctx context.Context, cfg config.Config, space keys.Space) (bench.Report, error) {
	bar := newTimeBar(o.Stderr)
	defer bar.end()
	return bench.Run(ctx, bench.Config{
		Connect:  func() (*client.Client, error) { return connect(context.WithoutCancel(ctx), cfg) },
		Space:    space,
		Clients:  o.clients,
		Duration: o.duration,
		Works:    o.works,
		Progress: bar.show,
	})
}
