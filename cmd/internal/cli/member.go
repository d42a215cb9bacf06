package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/members"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// changeWait is how long a change of members may take unless told otherwise: etcd
// asks for members that have been connected for 5 s, and a learner catches up.
const changeWait = 30 * time.Second

func newMemberCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "member",
		Short: "See, add, remove and replace the members of a cluster",
		Long: `See, add, remove and replace the members of a cluster. A member is given by its name,
its id or its peer address. With users in the cluster, changes are root's.

A new member adds itself: "fencelock server --join" on its host is all it takes.`,
		Args: noSuchCommand,
		RunE: commandMissing,
	}
	cmd.AddCommand(newMemberListCommand(a), newMemberAddCommand(a), newMemberPromoteCommand(a), newMemberRemoveCommand(a), newMemberReplaceCommand(a))
	return cmd
}

// changeOptions are the flags of commands that change the members.
type changeOptions struct {
	wait time.Duration
	yes  bool
}

func (o *changeOptions) addFlags(cmd *cobra.Command, asks bool) {
	o.wait = changeWait
	cmd.Flags().Var(&waitValue{to: &o.wait, given: true}, "wait", "how long to wait until the cluster allows the change")
	if asks {
		cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask on a terminal")
	}
}

// roster is the way to a cluster's members.
type roster struct {
	app    *app
	name   string // of the command
	etcd   *clientv3.Client
	change *members.Change
	cfg    config.Config
}

// withMembers runs f, for as long as wait allows.
func (a *app) withMembers(cmd *cobra.Command, wait time.Duration, f func(context.Context, *roster) error) error {
	if wait <= 0 {
		return usagef(cmd, "--wait %v: want more than zero", wait)
	}
	return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), wait)
		defer cancel()
		r := &roster{app: a, name: commandName(cmd), etcd: c.Etcd(), cfg: cfg}
		r.change = members.NewChange(members.Config{Etcd: r.etcd, Waiting: func(reason string) { r.tell("waiting for " + reason) }})
		if err := f(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		return nil
	})
}

// tell writes a line that is not part of the result.
func (r *roster) tell(text string) { fmt.Fprintf(r.app.Stderr, "fencelock: %s: %s\n", r.name, text) }

func (r *roster) warn(list members.List) {
	if warning := list.TwoVoters(); warning != "" {
		r.tell("warning: " + warning)
	}
}

// find returns the member that an argument stands for.
func (r *roster) find(ctx context.Context, who string) (members.Member, members.List, error) {
	list, err := r.change.List(ctx)
	if err != nil {
		return members.Member{}, list, err
	}
	m, ok := list.Find(who)
	if !ok {
		return m, list, fmt.Errorf("member %q: %w; \"fencelock member list\" shows all", who, errNotFound)
	}
	return m, list, nil
}

// survey asks every member how it is; those that do not answer cost no more than
// the dial time-out.
func (r *roster) survey(ctx context.Context, list members.List) []members.State {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Client.DialTimeout)
	defer cancel()
	return members.Survey(ctx, r.etcd, list)
}

// remove removes a member through the others. Leadership is moved first, so that the
// removal costs no election.
func (r *roster) remove(ctx context.Context, states []members.State, m members.Member) (members.List, error) {
	if to, leads := members.Successor(states, m.ID); leads {
		r.moveLeader(ctx, states, m, to)
	}
	var others []string
	for _, s := range states {
		if s.ID != m.ID && s.Reachable && !s.Learner {
			others = append(others, s.Endpoint)
		}
	}
	if len(others) > 0 {
		r.etcd.SetEndpoints(others...)
	}
	return r.change.Remove(ctx, m.ID)
}

// moveLeader does its best: a leader can be removed as well. The request has to
// reach the leader itself, which a connection that was set anew does after a moment.
func (r *roster) moveLeader(ctx context.Context, states []members.State, leader members.Member, to members.State) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Client.DialTimeout)
	defer cancel()
	for _, s := range states {
		if s.ID == leader.ID {
			r.etcd.SetEndpoints(s.Endpoint)
		}
	}
	for {
		if _, err := r.etcd.MoveLeader(ctx, to.ID); err == nil || !outcome.Pause(ctx, 50*time.Millisecond) {
			return
		}
	}
}

// confirm asks, if somebody is there to answer.
func (r *roster) confirm(o changeOptions, question string) error {
	if o.yes || !isInteractive(r.app.Stdin) || !isTerminal(r.app.Stderr) {
		return nil
	}
	fmt.Fprintf(r.app.Stderr, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(r.app.Stdin).ReadString('\n') // without one: no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("not confirmed; nothing was changed")
}

// isInteractive reports whether somebody may type there: of the character devices,
// all but /dev/null.
func isInteractive(in any) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && !os.SameFile(info, null)
}
