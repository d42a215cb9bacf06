package history

import "time"

// Fault is one run of one kind of fault.
type Fault struct {
	Kind  string `json:"kind"`
	Group string `json:"group"`
	Round int    `json:"round"` // faults of one round overlap

	Begin  Time `json:"begin"`  // it is about to be done
	Healed Time `json:"healed"` // everything is undone, restarted and ready
	End    Time `json:"end"`    // traffic is served again

	Victims []string `json:"victims,omitempty"` // members "m1", clients "c3", locks
	Detail  string   `json:"detail,omitempty"`
	Error   string   `json:"error,omitempty"` // it could not be done as meant: the run has failed

	Cost Cost `json:"cost"`
}

// Cost is what a kind of fault may cost, stated before it is run. The zero Cost is
// nothing but time: every acknowledged operation stays, everywhere.
type Cost struct {
	// Service is how long, from Begin to the next grant, everybody may be without
	// service beyond the fault's own duration.
	Service time.Duration `json:"service"`

	// Sessions may end although their clients live and renew them; they are told.
	Sessions bool `json:"sessions,omitempty"`

	// Pauses: the victims' clocks go on while they stand still, so they can notice
	// nothing meanwhile.
	Pauses bool `json:"pauses,omitempty"`

	// Rollback: the named target goes back to what it was at some moment between Since
	// and SinceEnd: writes that were acknowledged later may be lost. Tokens still
	// rise and old sequencers are refused.
	Rollback string `json:"rollback,omitempty"`
	Since    Time   `json:"since,omitempty"`
	SinceEnd Time   `json:"since_end,omitempty"`

	// Words for the report: "nothing", "the writes after the snapshot".
	Words string `json:"words"`
}
