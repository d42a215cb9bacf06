package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// endpointState is what one endpoint says about itself. One that is not
// reachable says nothing but why.
type endpointState struct {
	Endpoint  string   `json:"endpoint"`
	Reachable bool     `json:"reachable"`
	Name      string   `json:"name"`       // of the member; empty if nobody could tell
	ID        string   `json:"id"`         // in hex, as etcdctl shows it
	Cluster   string   `json:"cluster_id"` // the same
	Version   string   `json:"version"`
	Leader    bool     `json:"leader"`
	LeaderID  string   `json:"leader_id"` // whom it takes for the leader; "0": nobody
	Learner   bool     `json:"learner"`
	Revision  int64    `json:"revision,string"` // of its own data
	DBSize    int64    `json:"db_size"`         // bytes on disk
	DBInUse   int64    `json:"db_size_in_use"`  // bytes of them in use
	Term      uint64   `json:"raft_term"`
	Errors    []string `json:"errors"`
}

// clusterState is what all endpoints say.
type clusterState struct {
	Quorum    bool            `json:"quorum"` // a majority answered a read
	Endpoints []endpointState `json:"endpoints"`
}

// name fills in the members' names.
func (s *clusterState) name(names map[uint64]string) {
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		if id, err := strconv.ParseUint(e.ID, 16, 64); err == nil {
			e.Name = names[id]
		}
	}
}

// oneCluster refuses endpoints of several clusters. A client asks them by turns: a lock
// would have a holder in each.
func (s clusterState) oneCluster() error {
	var first endpointState
	for _, e := range s.Endpoints {
		switch {
		case !e.Reachable, e.Cluster == first.Cluster:
		case first.Cluster == "":
			first = e
		default:
			return fmt.Errorf("%s and %s belong to different clusters, %s and %s, and a lock has a holder in each; leave one out of the endpoints everywhere, and stop the cluster that is not wanted",
				first.Endpoint, e.Endpoint, first.Cluster, e.Cluster)
		}
	}
	return nil
}

func (s clusterState) table(w io.Writer) {
	row(w, "ENDPOINT", "NAME", "ROLE", "VERSION", "REVISION", "DB SIZE", "TERM", "ERRORS")
	for _, e := range s.Endpoints {
		errors := visibleOr(strings.Join(e.Errors, "; "), "-")
		if !e.Reachable {
			row(w, e.Endpoint, "-", "unreachable", "-", "-", "-", "-", errors)
			continue
		}
		row(w, e.Endpoint, visibleOr(e.Name, "-"), e.role(), e.Version, strconv.FormatInt(e.Revision, 10),
			bytesText(e.DBSize), strconv.FormatUint(e.Term, 10), errors)
	}
}

func (e endpointState) role() string {
	switch {
	case e.Learner:
		return "learner"
	case e.Leader:
		return "leader"
	case e.LeaderID == "0":
		return "no leader"
	}
	return "follower"
}

func visibleOr(s, empty string) string {
	if s == "" {
		return empty
	}
	return visible(s)
}

func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func hex(id uint64) string { return strconv.FormatUint(id, 16) }
