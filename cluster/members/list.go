package members

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Member is a member as the cluster lists it.
type Member struct {
	ID      uint64
	Name    string   // empty: it was added and has never run
	Peers   []string // URLs, sorted
	Clients []string // URLs; empty: it has never run
	Learner bool
}

// String names the member: by its addresses while it has no name.
func (m Member) String() string {
	if m.Name == "" {
		return strings.Join(m.Peers, ",") + " (not started, id " + m.Hex() + ")"
	}
	return m.Name
}

// Hex is the id as etcd's tools show it.
func (m Member) Hex() string { return strconv.FormatUint(m.ID, 16) }

// List is all members of one cluster.
type List struct {
	Cluster uint64 // its id
	Members []Member
}

// Read asks the cluster for its members, as a majority knows them.
// With clientv3.WithSerializable any one member's word will do.
func Read(ctx context.Context, etcd *clientv3.Client, opts ...clientv3.OpOption) (List, error) {
	resp, err := etcd.MemberList(ctx, opts...)
	if err != nil {
		return List{}, err
	}
	list := List{Cluster: resp.Header.ClusterId}
	for _, m := range resp.Members {
		peers := slices.Sorted(slices.Values(m.PeerURLs))
		list.Members = append(list.Members, Member{ID: m.ID, Name: m.Name, Peers: peers, Clients: m.ClientURLs, Learner: m.IsLearner})
	}
	slices.SortFunc(list.Members, func(a, b Member) int { return strings.Compare(a.String(), b.String()) })
	return list, nil
}

// ByID finds a member.
func (l List) ByID(id uint64) (Member, bool) {
	return l.first(func(m Member) bool { return m.ID == id })
}

// Named finds a member by its name.
func (l List) Named(name string) (Member, bool) {
	return l.first(func(m Member) bool { return name != "" && m.Name == name })
}

// At finds a member that has one of these peer URLs.
func (l List) At(peers []string) (Member, bool) {
	return l.first(func(m Member) bool {
		return slices.ContainsFunc(m.Peers, func(p string) bool { return slices.Contains(peers, p) })
	})
}

// Find finds a member by its name, its id in hex, or a peer URL or its host and
// port.
func (l List) Find(who string) (Member, bool) {
	if m, ok := l.Named(who); ok {
		return m, true
	}
	if id, err := strconv.ParseUint(strings.TrimPrefix(who, "0x"), 16, 64); err == nil {
		if m, ok := l.ByID(id); ok {
			return m, true
		}
	}
	return l.first(func(m Member) bool {
		return slices.ContainsFunc(m.Peers, func(p string) bool { return p == who || strings.HasSuffix(p, "://"+who) })
	})
}

func (l List) first(is func(Member) bool) (Member, bool) {
	if i := slices.IndexFunc(l.Members, is); i >= 0 {
		return l.Members[i], true
	}
	return Member{}, false
}

// Voters are the members that count for a majority.
func (l List) Voters() []Member {
	return slices.DeleteFunc(slices.Clone(l.Members), func(m Member) bool { return m.Learner })
}

// TwoVoters is a warning, empty if the cluster needs none.
func (l List) TwoVoters() string {
	if len(l.Voters()) != 2 {
		return ""
	}
	return fmt.Sprintf("a cluster of two members (%s) stops when either of them does: it is safer than one only for its data; add a third", names(l.Voters()))
}

func names(list []Member) string {
	texts := make([]string, len(list))
	for i, m := range list {
		texts[i] = m.String()
	}
	return strings.Join(texts, ", ")
}
