package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"

	"github.com/fencelock/fencelock/config"
)

func newServerCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run one member of a cluster",
		Long: `Run one member of a cluster, until SIGINT or SIGTERM. Without flags: a single node
on 127.0.0.1:2379, with its data in ./fencelock-data.

The same command on three hosts makes a cluster of three. Each host finds its own
address in the list; --name says which one it is where it cannot:

  fencelock server --peers a.example:2380,b.example:2380,c.example:2380

The first start needs all of them up at once, and waits for a minute, or as long
as --start-timeout says. The same command restarts a member. One whose folder was lost is refused: the others would
not know which tokens it has seen. --token-floor N, on every host, makes a new
cluster issue tokens above N, for resources that remember an older one.
` + joinHelp + `
When the member is ready it prints one line on standard error, where its log goes
as well: ready name=NAME client=URL[,URL]`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			if err := refuseClientFlags(cmd, len(cfg.Server.Join) > 0); err != nil {
				return err
			}
			start, err := newStarter(cfg)
			if err != nil {
				return err
			}
			a.lookAt(cfg)
			return runMember(cmd.Context(), cfg, start, a.Stderr)
		}),
	}
	config.AddFlags(cmd.Flags(), config.ServerKeys()...)
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = forClients(f) && !forJoining(f) })
		cmd.Root().HelpFunc()(cmd, args)
	})
	return cmd
}

// forClients reports whether a flag that every command has means nothing to a
// member.
func forClients(inherited *pflag.Flag) bool { return inherited.Name != "config" }

// refuseClientFlags refuses flags that only clients have: a member that was given
// --cert, and took no notice, would serve without TLS. One that joins is a client
// first.
func refuseClientFlags(cmd *cobra.Command, joins bool) error {
	var err error
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || !forClients(f) || joins && forJoining(f) || err != nil {
			return
		}
		advice := "leave it out"
		if own := "client-" + f.Name; cmd.LocalFlags().Lookup(own) != nil {
			advice = "a member has --" + own + ", and --peer-" + f.Name + " for the other members"
		}
		err = usagef(cmd, "--%s is for commands that connect to members; %s", f.Name, advice)
	})
	return err
}

// runMember runs a member until ctx ends, which is no error, or until it stops by
// itself.
func runMember(ctx context.Context, all config.Config, start starter, stderr io.Writer) error {
	settings := all.Server
	cfg, err := settings.Member(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // stopped as asked, while it looked up its peers
	case err != nil:
		return &usageError{err: fmt.Errorf("server: %w", err)}
	}
	cfg.Namespace = all.Client.Namespace         // for what it counts
	out := zapcore.Lock(zapcore.AddSync(stderr)) // the log and the ready line come from different goroutines
	cfg.Logger = newLogger(out, settings.LogLevel, settings.LogFormat)
	m, err := start(ctx, cfg)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // stopped as asked, before it was ready
	case err != nil:
		return fmt.Errorf("server: %w", err)
	}
	fmt.Fprintf(out, "ready name=%s client=%s\n", m.Name(), strings.Join(m.ClientAddrs(), ","))
	var stopped error
	select {
	case <-ctx.Done():
	case stopped = <-m.Err():
	}
	if err := errors.Join(stopped, m.Close()); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}
