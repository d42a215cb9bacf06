package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/members"
)

// memberState is one member: as the cluster lists it, and what it says itself.
type memberState struct {
	ID        string   `json:"id"`   // in hex, as etcdctl shows it
	Name      string   `json:"name"` // empty: it was added and has never run
	Peers     []string `json:"peer_urls"`
	Clients   []string `json:"client_urls"`
	Role      string   `json:"role"` // "leader", "voter" or "learner"
	Reachable bool     `json:"reachable"`
	Revision  int64    `json:"revision,string"`    // of its own data
	Behind    uint64   `json:"raft_behind,string"` // entries of the log that the leader has applied and it has not
	DBSize    int64    `json:"db_size"`            // bytes on disk
	Version   string   `json:"version"`
	Errors    []string `json:"errors"`
}

type memberStates []memberState

func newMemberListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the members and how they are",
		Long: `List the members: who leads, votes or learns, who answers, and how far each is behind
the leader. Without a quorum the list is one member's, and the exit code is 1.`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			return a.withMembers(cmd, changeWait, func(ctx context.Context, r *roster) error { return r.list(ctx) })
		}),
	}
}

func (r *roster) list(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, r.cfg.Client.DialTimeout)
	defer cancel()
	list, err := r.change.List(asking)
	if err != nil {
		any, cancel := context.WithTimeout(ctx, r.cfg.Client.DialTimeout)
		defer cancel()
		var alone error
		if list, alone = members.Read(any, r.etcd, clientv3.WithSerializable()); alone != nil {
			return err
		}
		err = fmt.Errorf("no quorum, this is what one member knows: %w", err)
	}
	return errors.Join(r.app.print(r.cfg.Output, statesOf(r.survey(ctx, list))), err)
}

func statesOf(survey []members.State) memberStates {
	var led uint64
	for _, s := range survey {
		if s.Leader {
			led = max(led, s.Index)
		}
	}
	list := memberStates{}
	for _, s := range survey {
		list = append(list, memberState{
			ID: s.Hex(), Name: s.Name, Peers: s.Peers, Clients: append([]string{}, s.Clients...), Role: roleOf(s),
			Reachable: s.Reachable, Revision: s.Revision, Behind: led - min(s.Index, led),
			DBSize: s.DBSize, Version: s.Version, Errors: append([]string{}, s.Errors...),
		})
	}
	return list
}

func roleOf(s members.State) string {
	switch {
	case s.Learner:
		return "learner"
	case s.Leader:
		return "leader"
	}
	return "voter"
}

func (list memberStates) table(w io.Writer) {
	row(w, "ID", "NAME", "PEER", "CLIENT", "ROLE", "STATE", "REVISION", "BEHIND", "DB SIZE")
	for _, m := range list {
		cells := []string{m.ID, visibleOr(m.Name, "-"), visible(strings.Join(m.Peers, ",")), visibleOr(strings.Join(m.Clients, ","), "-"), m.Role}
		if m.Reachable {
			row(w, slices.Concat(cells, []string{m.state(), strconv.FormatInt(m.Revision, 10), strconv.FormatUint(m.Behind, 10), bytesText(m.DBSize)})...)
			continue
		}
		row(w, slices.Concat(cells, []string{m.state(), "-", "-", "-"})...)
	}
}

func (m memberState) state() string {
	switch {
	case m.Name == "":
		return "not started"
	case !m.Reachable:
		return "unreachable"
	case len(m.Errors) > 0:
		return visible(strings.Join(m.Errors, "; "))
	}
	return "ok"
}
