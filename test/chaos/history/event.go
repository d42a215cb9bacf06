package history

import (
	"strings"
	"time"
)

// Time is nanoseconds of CLOCK_BOOTTIME.
type Time int64

// Add is t later by d.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub is how much later t is than u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Kind is what a client did.
type Kind string

// The kinds of operations.
const (
	Acquire Kind = "acquire" // Lock, TryLock, LockAll, LockShared: OK brings Token and Deadline
	Release Kind = "release" // Unlock
	Lost    Kind = "lost"    // no request: the client was told that it no longer holds; Deadline is what it trusted in

	Get    Kind = "get"    // one register: OK brings Seen; of a list, Items
	List   Kind = "list"   // a whole set or bank: OK brings Items, or Seen and Sum
	Put    Kind = "put"    // one register: Value over Prev; of a list, Value is the item that was appended behind Prev
	Add    Kind = "add"    // to a set: Value
	Delete Kind = "delete" // from a set: Value
	Apply  Kind = "apply"  // a bank's transfer: register "last" gets Value over Prev

	// Leaks is the last of a process that ended in good order: Goroutines and Files
	// more than at its start, after everything was closed.
	Leaks Kind = "leaks"
)

// Outcome is what a client knows of its operation.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"      // acknowledged
	Refused Outcome = "refused" // certainly without effect, by a fence: stale, not held, lost; Reason tells which
	Failed  Outcome = "failed"  // certainly without effect, for another reason (locked, unavailable before it was sent)
	Unknown Outcome = "unknown" // perhaps done, perhaps not, perhaps yet to be
)

// The reasons of Refused.
const (
	Stale   = "stale"    // a fence has admitted a higher token: fencing.ErrStale
	NotHeld = "not held" // the claim is gone: fencing.ErrNotHeld
	Gone    = "lost"     // the client itself knows better: client.ErrLost

	// NotIssued: no claim ever had the token, fencing.ErrNotIssued. After a restore a
	// cluster says so of tokens above its snapshot.
	NotIssued = "not issued"
)

// How a lock was taken, and how the resource was reached: Event.Mode.
const (
	Exclusive = ""          // Lock, TryLock; the handle's own KV
	Bare      = "sequencer" // Lock; the resource was given the sequencer, nothing else
	Shared    = "shared"    // LockShared: reads only
	All       = "all"       // LockAll: one token for several locks
)

// Event is one line of a history.
type Event struct {
	At     Time   `json:"at"`
	Client string `json:"client"` // "c3.1": client 3, its first life
	ID     int    `json:"id"`     // of the operation, from 1 in each life
	Phase  string `json:"phase"`  // Call or Return
	Kind   Kind   `json:"kind,omitempty"`

	Lock string `json:"lock,omitempty"` // the guard: <target>/<workload>/<n>
	Hold int    `json:"hold,omitempty"` // the ID of the Acquire it was done under
	Mode string `json:"mode,omitempty"`

	Token int64  `json:"token,string,omitempty"`
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"` // the identity that is written
	Prev  string `json:"prev,omitempty"`  // the identity that it replaces, as its writer read it; "": there was none

	Outcome  Outcome  `json:"outcome,omitempty"`
	Reason   string   `json:"reason,omitempty"`         // of Refused: see above; else the error's text
	Highest  int64    `json:"highest,string,omitempty"` // of Stale: what the fence has admitted
	Seen     string   `json:"seen,omitempty"`           // the identity that was read; "": nothing there
	Items    []string `json:"items,omitempty"`
	Sum      int64    `json:"sum,omitempty"` // of a bank's balances
	Deadline Time     `json:"deadline,omitempty"`

	Goroutines int `json:"goroutines,omitempty"`
	Files      int `json:"files,omitempty"`
}

// The phases.
const (
	Call   = "call"
	Return = "return"
)

// Control is the target without a fence: it is there to lose.
const Control = "control"

// Targets is where data may lie, in the order in which they are told of.
func Targets() []string { return []string{Control, "kv", "sql", "redis", "file"} }

// Workloads is the traffic that there is, see the package's comment.
func Workloads() []string { return []string{"counter", "list", "set", "bank"} }

// Target is where a guard's data lie, one of Targets.
func Target(lock string) string {
	target, _, _ := strings.Cut(lock, "/")
	return target
}

// Workload is the traffic under a guard, one of Workloads.
func Workload(lock string) string {
	_, rest, _ := strings.Cut(lock, "/")
	workload, _, _ := strings.Cut(rest, "/")
	return workload
}
