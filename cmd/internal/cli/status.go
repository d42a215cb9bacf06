package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
)

func newStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Ask every endpoint how it is",
		Long: `Ask every endpoint how it is, and whether the cluster has a quorum. Without one, with
no endpoint that answers, or with endpoints of two clusters, the exit code is 1.`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
				state, err := askAll(cmd.Context(), c, cfg.Client)
				return errors.Join(a.print(cfg.Output, state), err)
			})
		}),
	}
}

// askAll asks the endpoints one by one, and the cluster for a linearizable read,
// all at the same time, so that none that hangs adds to the others. The error says
// why there is no quorum, if there is none.
func askAll(ctx context.Context, c *client.Client, cfg config.Client) (clusterState, error) {
	each, cancel := context.WithTimeout(ctx, cfg.DialTimeout)
	defer cancel()
	state := clusterState{Endpoints: make([]endpointState, len(cfg.Endpoints))}
	var work sync.WaitGroup
	for i, endpoint := range cfg.Endpoints {
		work.Go(func() {
			var err error
			if state.Endpoints[i], err = ask(each, c.Etcd(), endpoint); err != nil {
				state.Endpoints[i].Errors = []string{unanswered(ctx, cfg, endpoint, err)}
			}
		})
	}
	var names map[uint64]string
	work.Go(func() { names = memberNames(each, c.Etcd()) })
	err := quorum(ctx, c, cfg.DialTimeout)
	work.Wait()
	state.Quorum = err == nil
	state.name(names)
	if mixed := state.oneCluster(); mixed != nil {
		state.Quorum, err = false, mixed
	}
	if err != nil {
		return state, fmt.Errorf("status of %s: %w", strings.Join(cfg.Endpoints, ", "), err)
	}
	return state, nil
}

func ask(ctx context.Context, etcd *clientv3.Client, endpoint string) (endpointState, error) {
	resp, err := etcd.Status(ctx, endpoint)
	if err != nil {
		return endpointState{Endpoint: endpoint}, err
	}
	return endpointState{
		Endpoint:  endpoint,
		Reachable: true,
		ID:        hex(resp.Header.MemberId),
		Cluster:   hex(resp.Header.ClusterId),
		Version:   resp.Version,
		Leader:    resp.Leader != 0 && resp.Leader == resp.Header.MemberId,
		LeaderID:  hex(resp.Leader),
		Learner:   resp.IsLearner,
		Revision:  resp.Header.Revision,
		DBSize:    resp.DbSize,
		DBInUse:   resp.DbSizeInUse,
		Term:      resp.RaftTerm,
		Errors:    append([]string{}, resp.Errors...),
	}, nil
}

// unanswered words the usual error of a request to one endpoint: etcd's client
// tries until its time is up, and does not say why it failed.
func unanswered(ctx context.Context, cfg config.Client, endpoint string, err error) string {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err.Error()
	}
	secured, err := cfg.TLS()
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if why := probe(ctx, endpoint, secured); why != nil {
		return advice(why)
	}
	return "no answer in time"
}

// memberNames asks any one member, which may lag behind: names do not change.
func memberNames(ctx context.Context, etcd *clientv3.Client) map[uint64]string {
	names := map[uint64]string{}
	resp, err := etcd.MemberList(ctx, clientv3.WithSerializable())
	if err != nil {
		return names // the members are shown without
	}
	for _, m := range resp.Members {
		names[m.ID] = m.Name
	}
	return names
}

// quorum reads something that needs a majority. A member that refuses it, to a
// user without rights for instance, has asked the majority before.
func quorum(ctx context.Context, c *client.Client, within time.Duration) error {
	_, err := c.Inspect(ctx, "any")
	switch {
	case errors.Is(err, client.ErrUnavailable):
		return fmt.Errorf("no quorum: %w for %v; are a majority of the members running, and do they reach each other?", client.ErrUnavailable, within)
	case errors.Is(err, client.ErrTwoClusters), ctx.Err() != nil:
		return err
	}
	return nil
}
