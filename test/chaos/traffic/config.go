package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// Config says what one client process does; `chaos client` reads it as JSON from its standard input.
type Config struct {
	Client    string        // name of the process's life, "c3.1": client 3, first life; identities of written values begin with it
	History   string        // file to create and write the history to
	Endpoints []string      // of the members, or of the proxies before them
	TTL       time.Duration // of the session; rounded up to whole seconds by the client
	Seed      uint64        // of every random choice, together with Client
	Targets   []string      // some of history.Targets()
	Workloads []string      // some of history.Workloads()
	Postgres  string        // data source name of PostgreSQL, for sql
	Redis     string        // unix socket (an absolute path) or host:port of Redis, for redis
	Folder    string        // where the files of control and file lie; created if missing
	Think     time.Duration // up to this long between a read and the write that follows from it
	Pause     time.Duration // up to this long between two acquisitions of a task; 0 means 100 ms for each lock
	Hasty     time.Duration // some operations are given up so soon, well before the session's end; 0: none
	Final     bool          // take each lock once, read everything there, and end
}

// pausePerLock makes five processes some 600 operations a second, however many locks
// they contend for. Measured with three members on two cores: that takes 0.3 cores for
// the members and as much for the clients.
const pausePerLock = 100 * time.Millisecond

func (c Config) pause() time.Duration {
	return cmp.Or(c.Pause, time.Duration(len(c.Targets)*len(c.Workloads))*pausePerLock)
}

func (c Config) validate() error {
	for _, name := range c.Targets {
		if !slices.Contains(history.Targets(), name) {
			return fmt.Errorf("target %q: want some of %v", name, history.Targets())
		}
	}
	for _, name := range c.Workloads {
		if !slices.Contains(history.Workloads(), name) {
			return fmt.Errorf("workload %q: want some of %v", name, history.Workloads())
		}
	}
	if c.Client == "" || c.History == "" || c.Folder == "" {
		return errors.New("want Client, History and Folder")
	}
	return nil
}
