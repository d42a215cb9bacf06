package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fencelock/fencelock/cluster/disk"
)

// identity is the content of member.json: who started in this folder first.
// etcd itself goes by its log and ignores name and peers on a restart, so that a
// command for one cluster, run on the folder of another, would quietly serve the
// other's locks.
type identity struct {
	Name  string              `json:"name"`
	Peers map[string][]string `json:"peers"` // peer URLs of all members by name, as first given

	TokenFloor string `json:"tokenFloor,omitempty"` // as last given before there was data

	timing // of the last start
}

// timing has to be the same on all members. Those of a first start compare it; later
// nobody tells a member the others', but a change can be noticed.
type timing struct {
	Heartbeat time.Duration `json:"heartbeat,omitempty"` // in nanoseconds, as Election
	Election  time.Duration `json:"election,omitempty"`
}

// String is for the log.
func (t timing) String() string {
	return fmt.Sprintf("--heartbeat %v --election %v", t.Heartbeat, t.Election)
}

func identityOf(cfg Config) identity {
	id := identity{Name: cfg.Name, Peers: map[string][]string{}, TokenFloor: floorText(cfg), timing: timing{cfg.Heartbeat, cfg.Election}}
	a, _ := cfg.addresses() // cfg is valid
	for name, urls := range a.peers {
		id.Peers[name] = sorted(urls)
	}
	return id
}

// admits reports whether a start as want may use the folder of id. Peers may
// have come and gone since, and want may name today's or the first ones; but one
// that it names has to be known here, from then or from stored, the members in
// the database.
func (id identity) admits(want identity, stored map[string][]string) error {
	if want.Name != id.Name {
		return fmt.Errorf("%w: it belongs to member %q, and this is %q; use that name, or another folder",
			ErrForeignFolder, id.Name, want.Name)
	}
	if err := id.movedTo(want, stored); err != nil {
		return err
	}
	others := 0
	for name, urls := range want.Peers {
		if name == id.Name {
			continue
		}
		if others++; knows(id.Peers, name, urls) || knows(stored, name, urls) {
			return nil
		}
	}
	if others == 0 {
		return nil
	}
	return fmt.Errorf("%w: its cluster is %v, and none of %v is in it; use those peers, or another folder",
		ErrForeignFolder, names(id.Peers, stored), names(want.Peers))
}

// movedTo refuses a start at the address of another member: the others would take
// each of the two for the other one, and listen to neither.
func (id identity) movedTo(want identity, stored map[string][]string) error {
	members := stored
	if len(members) == 0 {
		members = id.Peers
	}
	for _, u := range want.Peers[id.Name] {
		for name, urls := range members {
			if name != id.Name && name != "" && slices.Contains(urls, u) { // this one has no name there before it has run
				return fmt.Errorf("%w: it belongs to member %q at %s, and this start is at %s, which is the address of member %q; start each member at its own address",
					ErrForeignFolder, id.Name, strings.Join(members[id.Name], ","), u, name)
			}
		}
	}
	return nil
}

func knows(members map[string][]string, name string, urls []string) bool {
	if _, ok := members[name]; ok {
		return true
	}
	for _, have := range members {
		for _, u := range urls {
			if slices.Contains(have, u) {
				return true
			}
		}
	}
	return false
}

func names(members ...map[string][]string) []string {
	all := map[string]bool{}
	for _, m := range members {
		for name := range m {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func readIdentity(path string) (id identity, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return id, fmt.Errorf("%w: it holds data of etcd, but no member.json; use another folder", ErrForeignFolder)
	}
	if err != nil {
		return id, fmt.Errorf("read identity: %w", err)
	}
	if err := json.Unmarshal(data, &id); err != nil || id.Name == "" {
		return id, fmt.Errorf("%w: its member.json is damaged (%v)", ErrForeignFolder, err)
	}
	return id, nil
}

// writeIdentity replaces the file in one step and syncs it, so that data never
// lies beside half an identity.
func writeIdentity(path string, id identity) error { return disk.ReplaceJSON(path, id) }
