package bootstrap

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

var (
	// ErrReplace: the cluster exists, and this folder has no part in it. Only
	// the running members can take a member with an empty folder back.
	ErrReplace = errors.New("the cluster exists already, and this folder does not belong to it")

	// ErrInterrupted: a first start was broken off, and since then a folder has
	// lost its birth. The cluster cannot be finished, only begun anew.
	ErrInterrupted = errors.New("the first start was interrupted, and a folder has changed since")

	// ErrDisagree: the members were not given the same commands or folders.
	ErrDisagree = errors.New("the members do not agree")
)

// replaceAdvice ends the errors that are ErrReplace.
const replaceAdvice = "if its disk was lost, run `fencelock member replace` against the running members"

func lostData(self Answer) error {
	return fmt.Errorf("%w: member %s ran in it once, and its data is gone; %s", ErrReplace, self.Member, replaceAdvice)
}

// hasRun refuses when etcd runs, or ran, at a peer.
func hasRun(self Answer, heard map[string]Heard) error {
	for member, h := range sortedByMember(heard) {
		ran := h.Answer != nil && h.Answer.Ran
		switch {
		case self.Snapshot != "" && self.Decision == nil && (h.Cluster != "" || ran):
			return fmt.Errorf("%w: it holds a restored snapshot, and %s has run already; if that is the old cluster, stop all its members and move their folders away before you restore; if it is the restored one, empty this folder, and %s",
				ErrReplace, member, replaceAdvice)
		case h.Cluster != "" && self.Decision != nil:
			return fmt.Errorf("%w: %s runs in cluster %s, and this folder began another; %s", ErrReplace, member, h.Cluster, replaceAdvice)
		case h.Cluster != "":
			return fmt.Errorf("%w: %s runs etcd cluster %s, and this folder is empty; %s; if that is no member of yours, correct --peers",
				ErrReplace, member, h.Cluster, replaceAdvice)
		case ran:
			return fmt.Errorf("%w: %s ran once and has lost its data, and this folder is empty; start the members that have data, then %s",
				ErrReplace, member, replaceAdvice)
		}
	}
	return nil
}

func interrupted(self Answer, stranger string) error {
	return fmt.Errorf("%w: %s and %s hold births that do not belong together; if this cluster never served, nothing was stored: stop all members, empty the folders of all of them (%s) and start them again; if it did, restore a snapshot, or start the empty folders with --token-floor now",
		ErrInterrupted, self.Member, stranger, strings.Join(self.Peers, ", "))
}

// disagreement compares what has to be equal, and what has to differ.
func disagreement(self Answer, heard map[string]Heard) error {
	births, names := map[string]string{self.Birth: self.Member}, map[string]string{self.Name: self.Member}
	for member, h := range sortedByMember(heard) {
		a := h.Answer
		if a == nil {
			continue
		}
		if why := differs(self, member, *a); why != "" {
			return fmt.Errorf("%w: %s", ErrDisagree, why)
		}
		if other, ok := births[a.Birth]; ok {
			return fmt.Errorf("%w: the folders of %s and %s are copies of each other; empty one of them", ErrDisagree, other, member)
		}
		if other, ok := names[a.Name]; ok {
			return fmt.Errorf("%w: %s and %s both have the name %q; give each a name of its own with --name", ErrDisagree, other, member, a.Name)
		}
		births[a.Birth], names[a.Name] = member, member
	}
	return nil
}

// differs says in what a differs from what self expects of the member at that
// address; empty: in nothing.
func differs(self Answer, member string, a Answer) string {
	switch {
	case a.Member != member:
		return fmt.Sprintf("at %s answers %s; correct --peers, or what these addresses lead to", member, a.Member)
	case !slices.Equal(a.Peers, self.Peers):
		return fmt.Sprintf("here --peers is %s, and at %s it is %s; give all members the same list", strings.Join(self.Peers, ", "), member, strings.Join(a.Peers, ", "))
	case a.Snapshot != self.Snapshot:
		return fmt.Sprintf("here the folder holds %s, and at %s %s; restore the same snapshot on every host, or on none", snapshotName(self), member, snapshotName(a))
	case a.FloorNow != self.FloorNow || !a.FloorNow && a.Floor != self.Floor:
		return fmt.Sprintf("here the token floor is %s, and at %s it is %s; give all members the same --token-floor", floorName(self), member, floorName(a))
	case a.Heartbeat != self.Heartbeat || a.Election != self.Election:
		return fmt.Sprintf("here --heartbeat is %v and --election %v, and at %s they are %v and %v; give all members the same",
			self.Heartbeat, self.Election, member, a.Heartbeat, a.Election)
	case clocksDiffer(self, a):
		return fmt.Sprintf("the clock here shows %s, and that of %s %s, and both take their token floor from it; set the clocks, or give all members the same number with --token-floor",
			clockText(self), member, clockText(a))
	case a.Cluster != self.Cluster:
		return fmt.Sprintf("here the cluster's token is %q, and at %s it is %q; configure the same", self.Cluster, member, a.Cluster)
	}
	return ""
}

// maxSkew is how far the clocks of two members may be apart where they make the token
// floor: far more than between any that are kept right, and than an answer takes.
const maxSkew = time.Minute

// clocksDiffer looks at the clocks where they matter. A floor that one of them
// proposes years ahead would be decided on, and the next cluster that is made above
// the present would begin below it.
func clocksDiffer(self, a Answer) bool {
	if !self.FloorNow || self.Decision != nil || a.Decision != nil {
		return false
	}
	return time.UnixMicro(a.Clock).Sub(time.UnixMicro(self.Clock)).Abs() > maxSkew
}

func clockText(a Answer) string { return time.UnixMicro(a.Clock).UTC().Format(time.RFC3339) }

func snapshotName(a Answer) string {
	if a.Snapshot == "" {
		return "no snapshot"
	}
	return fmt.Sprintf("snapshot %.12s with floor %d", a.Snapshot, a.Floor)
}

func floorName(a Answer) string {
	switch {
	case a.FloorNow:
		return `"now"`
	case a.Floor == 0:
		return "not given"
	}
	return fmt.Sprint(a.Floor)
}

// sortedByMember makes the choice between several reasons the same every time.
func sortedByMember(heard map[string]Heard) iter.Seq2[string, Heard] {
	return func(yield func(string, Heard) bool) {
		for _, member := range slices.Sorted(maps.Keys(heard)) {
			if !yield(member, heard[member]) {
				return
			}
		}
	}
}
