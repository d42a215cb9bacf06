package cli

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/config"
)

// joinHelp is the part of server's help about --join.
const joinHelp = `
A further member enters a cluster that runs, through the client address of any of
its members: it is added, gets all data, and then votes. Interrupted, the same
command goes on; later it starts the member again. To a cluster with TLS or users
it comes with --cacert, --cert, --key and --user; the user needs the role root.

  fencelock server --join http://a.example:2379
`

// starter is how a member begins: it makes a cluster or starts again, or it joins.
type starter func(context.Context, cluster.Config) (*cluster.Member, error)

func newStarter(cfg config.Config) (starter, error) {
	if len(cfg.Server.Join) == 0 {
		return cluster.Start, nil
	}
	asClient := cfg.Client
	asClient.Endpoints = cfg.Server.Join
	settings, err := asClient.Config()
	if err != nil {
		return nil, &usageError{err: err}
	}
	secure, err := asClient.TLS()
	if err != nil {
		return nil, &usageError{err: err}
	}
	via := cluster.Via{Endpoints: settings.Endpoints, TLS: secure, Username: settings.Username, Password: settings.Password}
	return func(ctx context.Context, member cluster.Config) (*cluster.Member, error) {
		return cluster.Join(ctx, member, via)
	}, nil
}

// lookAt sets which endpoints are looked at if nobody answers: those that the member
// joins through, and never the ones that other commands would use.
func (a *app) lookAt(cfg config.Config) {
	a.cluster = nil
	if len(cfg.Server.Join) > 0 {
		cfg.Client.Endpoints = cfg.Server.Join
		a.cluster = &cfg.Client
	}
}

// forJoining reports whether a flag of clients also says how to reach the cluster
// that a member joins.
func forJoining(inherited *pflag.Flag) bool {
	return slices.Contains([]string{"user", "cacert", "cert", "key"}, inherited.Name)
}
