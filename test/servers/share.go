package servers

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// shared are the servers of this process. There is no other place for what
// outlives each test and is there only if one of them asks.
var shared struct {
	mu        sync.Mutex
	servers   map[string]*Server
	failed    map[string]error
	databases int
}

const databasePrefix = "test"

// Main runs the tests of a package, then ends the servers that they shared, and
// fails if goroutines are left:
//
//	func TestMain(m *testing.M) { servers.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	stopShared()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func stopShared() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, s := range shared.servers {
		s.remove()
	}
	shared.servers = nil
}

// share returns the DSN of a fresh database on the process's server.
func share(t testing.TB, r recipe) string {
	t.Helper()
	program := r.find(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	s, err := sharedServer(r, program)
	if err != nil {
		t.Fatal(err)
	}
	shared.databases++
	database := fmt.Sprintf("%s%d", databasePrefix, shared.databases)
	if err := r.create(s, database); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.drop(s, database); err != nil {
			t.Error(err)
		}
	})
	return s.DSN(database)
}

// sharedServer starts the server once; what failed once fails all who ask.
// shared.mu is held.
func sharedServer(r recipe, program string) (*Server, error) {
	if shared.servers == nil {
		shared.servers, shared.failed = map[string]*Server{}, map[string]error{}
	}
	if s, err := shared.servers[r.name], shared.failed[r.name]; s != nil || err != nil {
		return s, err
	}
	s, err := launch(r, program, false, Place{})
	if err != nil {
		shared.failed[r.name] = err
		return nil, err
	}
	shared.servers[r.name] = s
	return s, nil
}
