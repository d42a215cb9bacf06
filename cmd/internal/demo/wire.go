package demo

import (
	"time"

	"github.com/fencelock/fencelock/fencing"
)

// job is the first line that a worker gets. All lines are JSON objects.
type job struct {
	Name      string        `json:"name"`
	Endpoints []string      `json:"endpoints"`
	Lock      string        `json:"lock"`
	TTL       time.Duration `json:"ttl"`
	Timeout   time.Duration `json:"timeout"` // of a request; it has to outlast the pause
	File      string        `json:"file"`    // where the balance is; empty: behind the lock's fence
}

// order is every further line: one thing to do, which one answer ends.
type order struct {
	Do    string `json:"do"`
	Add   int    `json:"add,omitempty"`   // to the balance that was read last
	Pause bool   `json:"pause,omitempty"` // stop when the write is about to leave the process
}

// What an order can ask for.
const (
	doLock   = "lock"
	doRead   = "read"
	doWrite  = "write"
	doUnlock = "unlock"
)

// answer is one line from a worker.
type answer struct {
	Event   string        `json:"event"`
	Token   fencing.Token `json:"token,omitzero"`   // with locked
	Balance int           `json:"balance"`          // with read, leaving, written, refused
	Highest fencing.Token `json:"highest,omitzero"` // with refused: the fence
	Lost    bool          `json:"lost,omitempty"`   // the worker's lock, as it sees it after a write
	Error   string        `json:"error,omitempty"`  // with failed
}

// What an answer can say.
const (
	locked   = "locked"
	read     = "read"
	leaving  = "leaving" // a write has passed its last check; the worker is about to stop
	written  = "written" // acknowledged
	refused  = "refused" // by the fence
	unlocked = "unlocked"
	failed   = "failed"
)
