package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/members"
)

// ErrClash: a member of the cluster has this one's name or address.
var ErrClash = errors.New("clash with a member of the cluster")

// entries is how often a first start is tried when the cluster's members change
// meanwhile, or some of them do not know of the new one yet.
const entries = 5

// enter is the first start: it adds the member to the cluster and starts it as one
// that has no data. It owns folder, like startIn.
func (j *joiner) enter(ctx context.Context, f *folder) (*Member, error) {
	etcd, change, err := j.dial(ctx, j.via.Endpoints)
	if err != nil {
		f.close()
		return nil, err
	}
	defer etcd.Close()
	for try := 1; ; try++ {
		m, err := j.enterOnce(ctx, etcd, change, f)
		if err == nil || try == entries || !outdated(err) || ctx.Err() != nil {
			return m, err
		}
		j.cfg.Logger.Info("the list of members has changed: start again with the new one")
		if f, err = openFolder(j.cfg); err != nil {
			return nil, err
		}
		if f.hasData() {
			return startIn(ctx, j.cfg, f)
		}
	}
}

func (j *joiner) enterOnce(ctx context.Context, etcd *clientv3.Client, change *members.Change, f *folder) (*Member, error) {
	cfg, err := j.claim(ctx, change, f)
	if err != nil {
		f.close()
		return nil, err
	}
	return startIn(ctx, cfg, f)
}

// outdated reports whether etcd has refused to start since the members that it was
// given differ from those that a peer knows.
func outdated(err error) bool {
	text := err.Error()
	return slices.ContainsFunc([]string{"member count is unequal", "no match found for existing member", "incompatible with current running cluster"},
		func(part string) bool { return strings.Contains(text, part) })
}

// claim makes sure that the cluster has this member as a learner, and the folder a
// pass that says so, and returns with what etcd is to start.
func (j *joiner) claim(ctx context.Context, change *members.Change, f *folder) (Config, error) {
	list, err := change.List(ctx)
	if err != nil {
		return Config{}, err
	}
	me, there := list.At(j.peers())
	if err := j.mayEnter(list, me, there); err != nil {
		return Config{}, err
	}
	if there && !f.passIs(list.Cluster, me.ID) {
		if list, err = change.Remove(ctx, me.ID); err != nil {
			return Config{}, err
		}
		there = false
	}
	if !there {
		if me, list, err = change.AddLearner(ctx, j.peers()); err != nil {
			return Config{}, err
		}
	}
	cfg := j.among(list, me)
	if err := cfg.validate(); err != nil {
		return Config{}, err
	}
	if err := f.claim(cfg); err != nil {
		return Config{}, err
	}
	return cfg, writePass(f, pass{Cluster: hexID(list.Cluster), Member: hexID(me.ID)})
}

// peers are this member's own peer URLs.
func (j *joiner) peers() []string {
	a, _ := j.cfg.addresses() // cfg is valid
	return sorted(a.advertisePeer)
}

// mayEnter refuses before anything is changed.
func (j *joiner) mayEnter(list members.List, me members.Member, there bool) error {
	switch other, taken := list.Named(j.cfg.Name); {
	case there && me.Name == j.cfg.Name:
		return fmt.Errorf("%w: %q at %s has run before, and this folder is empty: if its data is lost, run \"fencelock member replace %s\" and then this command again; else start it with its own folder (--data-dir)",
			ErrClash, me.Name, strings.Join(me.Peers, ","), me.Name)
	case there && me.Name != "":
		return fmt.Errorf("%w: %s is the address of its member %q; pass another --listen-peer or --advertise-peer", ErrClash, strings.Join(j.peers(), ","), me.Name)
	case taken:
		return fmt.Errorf("%w: %q is the name of its member at %s; pass another --name, or, if that member is dead, run \"fencelock member replace %s --peer %s\"",
			ErrClash, other.Name, strings.Join(other.Peers, ","), other.Name, strings.Join(j.peers(), ","))
	case there && !me.Learner:
		return fmt.Errorf("%w: %s was added as a voter that has never run; run \"fencelock member remove %s\" and then this command again",
			ErrClash, strings.Join(me.Peers, ","), me.Hex())
	}
	cfg := j.among(list, members.Member{ID: me.ID, Peers: j.peers()})
	if err := cfg.validate(); err != nil {
		return fmt.Errorf("it does not fit into the cluster: %w", err)
	}
	return nil
}

// among is the configuration with which etcd starts beside the members of list. One
// that has never run has no name.
func (j *joiner) among(list members.List, me members.Member) Config {
	cfg := j.cfg
	cfg.InitialCluster = map[string][]string{}
	for _, m := range list.Members {
		name := m.Name
		if name == "" {
			name = m.Hex()
		}
		cfg.InitialCluster[name] = m.Peers
		if m.ID == me.ID {
			delete(cfg.InitialCluster, name)
		}
	}
	cfg.InitialCluster[cfg.Name] = me.Peers
	return cfg
}
