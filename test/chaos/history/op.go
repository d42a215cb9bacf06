package history

import "cmp"

// Op is one operation: its call and its return.
type Op struct {
	Event      // of the call; with what the return has brought
	Call  Time // when it was about to be sent
	// Return is when its outcome was known; Never, if that was never.
	Return Time
}

// Never is the return of an operation whose client died.
const Never = Time(1<<63 - 1)

// Effective reports whether the operation may have changed something.
func (o Op) Effective() bool {
	switch o.Kind {
	case Put, Add, Delete, Apply:
		return o.Outcome == OK || o.Outcome == Unknown
	}
	return false
}

// Write reports whether the operation asks for a change.
func (o Op) Write() bool {
	switch o.Kind {
	case Put, Add, Delete, Apply:
		return true
	}
	return false
}

// Data reports whether the operation reaches the resource behind the guard.
func (o Op) Data() bool { return o.Write() || o.Kind == Get || o.Kind == List }

// Name is the operation's identity, which its write leaves behind.
func (o Op) Name() string { return Name(o.Client, o.ID) }

// byCall orders operations by the time they were sent.
func byCall(a, b Op) int { return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Name(), b.Name())) }
