package demo

import "context"

// scene is what a run plays.
type scene struct {
	name   string // lateWriter or crossing
	fenced bool
}

// The names of the cases.
const (
	lateWriter = "late-writer"
	crossing   = "crossing"
)

// scenes are the runs of a demo, in their order.
func scenes() []scene {
	return []scene{{lateWriter, false}, {lateWriter, true}, {crossing, false}, {crossing, true}}
}

func (s scene) String() string {
	if s.fenced {
		return s.name + ", fenced"
	}
	return s.name + ", unfenced"
}

// lock is the name of the lock that guards the run's account.
func (s scene) lock() string {
	if s.fenced {
		return "accounts/" + s.name + "/fenced"
	}
	return "accounts/" + s.name + "/unfenced"
}

// guard says what guards the account.
func (s scene) guard() string {
	if s.fenced {
		return "lock and fence (KV)"
	}
	return "lock alone (file)"
}

// departure says where a write is when it has passed its last check.
func (s scene) departure() string {
	if s.fenced {
		return "before its request is sent"
	}
	return "before it renames the new file"
}

// plot says what happens in the case.
func (s scene) plot() string {
	if s.name == lateWriter {
		return "A's write goes out after B has read and written"
	}
	return "A's write goes out after B has read, and before B writes"
}

// step is one thing that happens in a run.
type step struct {
	what string // for errors
	do   func(*run, context.Context) error
}

// script returns the steps of the scene. The cases differ in one thing: whether A
// wakes up after B's write or before it.
func (s scene) script() []step {
	aWakes, bWrites := step{"A wakes up and writes", (*run).wakeA}, step{"B writes", (*run).writeB}
	steps := []step{
		{"the account is opened", (*run).open},
		{"A takes the lock and reads", (*run).startA},
		{"A is stopped before its write", (*run).stopA},
		{"B takes the lock and reads", (*run).startB},
	}
	if s.name == lateWriter {
		steps = append(steps, bWrites, aWakes)
	} else {
		steps = append(steps, aWakes, bWrites)
	}
	return append(steps,
		step{"A starts over if it was refused", (*run).redoA},
		step{"the balance is read", (*run).settle},
	)
}
