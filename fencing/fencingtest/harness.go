package fencingtest

import (
	"context"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

// Kind is what an operation does to a key.
type Kind int

// The operations that a fenced resource offers.
const (
	Read Kind = iota + 1
	Write
	Delete
	Advance // claims the fence and touches no data
)

// String names the kind for a failure's text.
func (k Kind) String() string {
	switch k {
	case Read:
		return "read"
	case Write:
		return "write"
	case Delete:
		return "delete"
	case Advance:
		return "advance"
	}
	return "unknown kind"
}

// Op is one operation on one key of a resource.
type Op struct {
	Kind  Kind
	Guard string // the lock that guards Key; the resource knows it from here, not from Sequencer
	Key   string // a short lowercase word; set for Advance too, for fences that lie with the data
	Value string // what Write writes

	// Sequencer goes with the operation the way the adapter wants it: as an
	// argument, in the context, in a header. The zero Sequencer: send none.
	Sequencer fencing.Sequencer

	// Text, if not empty, is sent as it is in the place of Sequencer.
	Text string
}

// Resource is a fenced store of small texts. The suite calls Do from many
// goroutines.
type Resource interface {
	// Do performs op and returns what a Read found, "" where there is nothing.
	// Deleting what is not there is no error. Errors are the adapter's, so that
	// the suite sees what a user would see.
	Do(ctx context.Context, op Op) (string, error)
}

// Verify is asked about a token that would raise a fence; see the adapters' Config.
type Verify func(ctx context.Context, seq fencing.Sequencer) error

// Capability is something that not every resource can do.
type Capability string

// What Harness.Without can name.
const (
	Deletes  Capability = "delete a key"
	Restarts Capability = "open again what was stored"
	Verifies Capability = "verify a token that would raise the fence"
	Texts    Capability = "take the sequencer as text"
	AnyToken Capability = "take tokens that the test makes up"
	AnyGuard Capability = "tell a sequencer of another lock from its own"
	ManyKeys Capability = "guard several keys with one fence"
)

// Harness describes a resource to the suite.
type Harness struct {
	// Open returns a resource that holds no data and no fences, and frees it at
	// the test's end. If verify is nil, the adapter's own Verify is to be nil.
	Open func(t testing.TB, verify Verify) Resource

	// Reopen ends what r keeps in memory, and returns what is stored; nil only
	// without Restarts.
	Reopen func(t testing.TB, r Resource) Resource

	// NextToken makes the lock service behind r grant the lock anew, to a holder
	// whose token it returns; the lock's last holder, if any, holds it no more.
	// Nil if tokens are free; not nil only without AnyToken.
	NextToken func(t testing.TB, r Resource, guard string) fencing.Token

	// Without names what the resource cannot do, and why not.
	Without map[Capability]string
}

// validate finds a harness that would leave out cases without saying so.
func (h Harness) validate(t testing.TB) {
	t.Helper()
	known := map[Capability]bool{Deletes: true, Restarts: true, Verifies: true, Texts: true,
		AnyToken: true, AnyGuard: true, ManyKeys: true}
	for capability, why := range h.Without {
		if !known[capability] || why == "" {
			t.Errorf("Without[%q] = %q: want a capability of this package, and the reason", capability, why)
		}
	}
	if h.Open == nil {
		t.Error("Open is nil")
	}
	if h.has(Restarts) != (h.Reopen != nil) {
		t.Errorf("Reopen is set: %v, Without[%q] is set: %v; want exactly one", h.Reopen != nil, Restarts, !h.has(Restarts))
	}
	if h.has(AnyToken) != (h.NextToken == nil) {
		t.Errorf("NextToken is set: %v, Without[%q] is set: %v; want both or neither", h.NextToken != nil, AnyToken, !h.has(AnyToken))
	}
}

func (h Harness) has(c Capability) bool {
	_, without := h.Without[c]
	return !without
}
