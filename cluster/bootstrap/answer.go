package bootstrap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"time"
)

// protocol is the version of Answer. Members of different versions do not make a
// new cluster together.
const protocol = 2

// Answer is what a member that has not started etcd says about itself. Members
// are called by their peer URLs, sorted and joined by commas: their names may
// differ from what the others call them.
type Answer struct {
	Protocol int    `json:"protocol"`
	Member   string `json:"member"`
	Name     string `json:"name"`
	Birth    string `json:"birth"` // of its folder

	// These have to be equal on all members.
	Peers    []string `json:"peers"`    // all members, sorted
	Cluster  string   `json:"cluster"`  // the token that was configured
	Snapshot string   `json:"snapshot"` // SHA-256 of the snapshot to begin with; empty: none

	// Floor is below every token to be issued. It is equal on all members, or
	// all have FloorNow: each has taken the time of its birth, and the largest
	// is decided on.
	Floor    int64 `json:"floor,string"`
	FloorNow bool  `json:"floorNow"`

	// Equal, too: a member with a shorter election than the others' heartbeat
	// would stand against every leader.
	Heartbeat time.Duration `json:"heartbeat"` // in nanoseconds, as Election
	Election  time.Duration `json:"election"`

	Clock int64 `json:"clock,string"` // microseconds since 1970 at the time of the answer; about equal

	Decision *Decision `json:"decision,omitempty"`
	Ran      bool      `json:"ran"` // etcd ran in this folder once, and its data is gone
}

// Decision is what a cluster began with. Its hash names the cluster.
type Decision struct {
	Births   map[string]string `json:"births"` // by member
	Cluster  string            `json:"cluster"`
	Snapshot string            `json:"snapshot"`
	Floor    int64             `json:"floor,string"`
}

// Token is the initial cluster token for etcd.
func (d Decision) Token() string {
	data, err := json.Marshal(d) // keys of a map are sorted
	if err != nil {
		panic("bootstrap: encode a decision: " + err.Error()) // strings and a number
	}
	sum := sha256.Sum256(data)
	return "fencelock-" + hex.EncodeToString(sum[:])
}

// Equal reports whether both make the same cluster.
func (d Decision) Equal(o Decision) bool {
	return d.Cluster == o.Cluster && d.Snapshot == o.Snapshot && d.Floor == o.Floor && maps.Equal(d.Births, o.Births)
}

// Heard is what came from a member's peer address: an answer, or the id of the
// cluster that etcd serves there, or neither.
type Heard struct {
	Answer  *Answer
	Cluster string // as in etcd's X-Etcd-Cluster-ID
	Err     error  // why neither
}

func (h Heard) silent() bool { return h.Answer == nil && h.Cluster == "" }
