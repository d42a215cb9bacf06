package model

import (
	"math"
	"time"
)

// Kind is what an operation asks for.
type Kind int

// The kinds of operations.
const (
	Grant  Kind = iota // of a lock; Token
	Read               // of a register: Value is what was seen; of a list: Items
	Write              // Value
	Append             // Value, behind Prev
	Raise              // somebody moved the fence to Token, without reading or writing
	Forget             // first of a history: the state before it is not known; the fence is at least Token
)

// Outcome is what is known of an operation.
type Outcome int

// The outcomes.
const (
	Admitted Outcome = iota
	Stale            // refused: a higher token has been admitted
	NotHeld          // refused: the claim is gone
	Unknown          // perhaps done, perhaps not, perhaps yet to be
)

// Never is the return of an operation that may yet be done.
const Never = math.MaxInt64

// Op is one operation.
type Op struct {
	Guard string // the lock: fences are per guard
	Key   string // the register or list behind it; unused for grants
	Kind  Kind

	Token   int64 // 0: of a read that no fence stands before
	Value   string
	Prev    string // "": the list was empty
	Items   []string
	Outcome Outcome

	Call, Return int64 // on one clock, in any unit

	overtaken bool // of Stale: another key's operation explains it
}

// Verdict is a model's word on a history.
type Verdict string

// The verdicts. TimedOut is a failure for whoever asks: nothing has been shown.
const (
	OK       Verdict = "ok"
	Illegal  Verdict = "illegal"
	TimedOut Verdict = "unknown"
)

// Finding is a part of a history that is not shown to be right.
type Finding struct {
	Guard, Key string
	Verdict    Verdict
	Ops        int   // in the part
	From, To   int64 // first call, last return that came
}

// Report is what came of a check.
type Report struct {
	Ops      int // looked at
	Parts    int // that the histories were cut into
	Longest  int // part, in operations
	Took     time.Duration
	Findings []Finding
}

// Verdict is the worst of the findings.
func (r Report) Verdict() Verdict {
	v := OK
	for _, f := range r.Findings {
		if f.Verdict == Illegal {
			return Illegal
		}
		v = f.Verdict
	}
	return v
}
