package history

// Facts is the state of a cluster at rest: once before the traffic, and once when
// everything is healed and every client has ended in good order.
type Facts struct {
	Members []MemberFacts `json:"members"`
	Claims  []string      `json:"claims,omitempty"` // keys under fencelock/lock/
	Leases  int           `json:"leases"`
}

// MemberFacts is what one member says of itself, and the kernel of it.
type MemberFacts struct {
	Name       string `json:"name"`
	Hash       uint32 `json:"hash"`     // of all keys, at Revision
	Revision   int64  `json:"revision"` // the same for all members
	Files      int    `json:"files"`    // open file descriptors
	Goroutines int    `json:"goroutines"`
}
