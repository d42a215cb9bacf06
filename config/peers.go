package config

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// peer is one member in the list of peers. Its name is its host and port: it follows
// from the address alone, the same on every host and for ever. A member that is
// given a name of its own has that one in its own list; the others learn it from
// the cluster, since etcd knows members by their addresses.
type peer struct {
	name       string
	host, port string
	address    string // the same, after the scheme that was given, if any
}

type peerList []peer

func parsePeers(addresses []string) (peerList, error) {
	var list peerList
	for _, address := range addresses {
		u, err := ParseAddress(address)
		if err != nil {
			return nil, err
		}
		p := peer{host: u.Hostname(), port: u.Port(), name: u.Host, address: at(u, u.Host)}
		if slices.Contains(list.names(), p.name) {
			return nil, fmt.Errorf("%s is there twice", p.name)
		}
		list = append(list, p)
	}
	return list, nil
}

func (l peerList) names() []string {
	var names []string
	for _, p := range l {
		names = append(names, p.name)
	}
	return names
}

// initialCluster has the peers as cluster.Config wants them.
func (l peerList) initialCluster() map[string][]string {
	members := map[string][]string{}
	for _, p := range l {
		members[p.name] = []string{p.address}
	}
	return members
}

// token keeps clusters apart that share an address: members with another list of
// peers have another token, and do not talk to each other.
func (l peerList) token() string {
	names := l.names()
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return "fencelock-" + hex.EncodeToString(sum[:])
}

// locate returns which of the peers this member is: the one that its name stands
// for; else, if it has a name of its own, the one at an address that it was given;
// else the only one whose address is this host's.
func (l peerList) locate(ctx context.Context, s Server, here host) (int, error) {
	if s.Name != "" {
		if i := l.named(s.Name); i >= 0 {
			return i, nil
		}
		if i := l.at(slices.Concat(s.AdvertisePeer, s.ListenPeer)); i >= 0 {
			return i, nil
		}
	}
	mine, unknown, err := l.mine(ctx, here)
	switch {
	case err != nil:
		return 0, err
	case len(mine) == 1:
		return slices.Index(l, mine[0]), nil
	case len(mine) > 1:
		return 0, fmt.Errorf("%s are all addresses of this host; pass --name with the one that this member is", strings.Join(mine.names(), ", "))
	case unknown != nil:
		return 0, fmt.Errorf("none of %s is known to be an address of this host; pass --name with the one that this member is (%w)", strings.Join(l.names(), ", "), unknown)
	}
	return 0, fmt.Errorf("none of %s is an address of this host; pass --name with the one that this member is", strings.Join(l.names(), ", "))
}

// named finds a peer by its name, or by its host alone where only one has it; -1:
// there is none.
func (l peerList) named(name string) int {
	byHost, hosts, address := -1, 0, ""
	if u, err := ParseAddress(name); err == nil {
		address = u.Host
	}
	for i, p := range l {
		switch {
		case p.name == address:
			return i
		case p.host == canonical(name):
			byHost, hosts = i, hosts+1
		}
	}
	if hosts != 1 {
		return -1
	}
	return byHost
}

// at finds the peer that has one of these addresses; -1: there is none.
func (l peerList) at(addresses []string) int {
	for _, address := range addresses {
		u, err := ParseAddress(address)
		if err != nil {
			continue // settings are checked when they are read
		}
		if i := slices.Index(l.names(), u.Host); i >= 0 {
			return i
		}
	}
	return -1
}

// mine returns the peers whose address is this host's. unknown is why another one
// could not be looked up, if so.
func (l peerList) mine(ctx context.Context, here host) (mine peerList, unknown, err error) {
	own, err := here.addresses()
	if err != nil {
		return nil, nil, fmt.Errorf("list the addresses of this host: %w", err)
	}
	for i, found := range here.lookupAll(ctx, l) {
		unknown = cmp.Or(unknown, found.err)
		if slices.ContainsFunc(found.ips, own.has) {
			mine = append(mine, l[i])
		}
	}
	return mine, unknown, nil
}
