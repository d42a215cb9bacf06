package servers

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// recipe is what there is to know about one kind of server.
type recipe struct {
	name     string
	program  string // a name to look up, or a path that may hold wildcards
	debian   string // the package that brings it
	ready    string // what it prints when it takes connections
	shutdown syscall.Signal
	orphaned syscall.Signal // sent by the kernel when the test process dies

	prepare func(s *Server) error    // fills an empty folder
	args    func(s *Server) []string // s.durable as in production, else fast
	dsn     func(s *Server, database string) string
	socket  func(s *Server, database string) string // as dsn, through s.sockets; nil: it is never asked for one
	create  func(s *Server, database string) error
	drop    func(s *Server, database string) error
}

// find returns the path of the server's program, or skips the test.
func (r recipe) find(t testing.TB) string {
	t.Helper()
	if !supported {
		t.Skipf("%s: servers are started on Linux only", r.name)
	}
	path, ok := lookUp(r.program)
	if !ok {
		t.Skipf("no %s here: apt-get install %s", r.name, r.debian)
	}
	return path
}

func lookUp(program string) (string, bool) {
	if !filepath.IsAbs(program) {
		path, err := exec.LookPath(program)
		return path, err == nil
	}
	found, _ := filepath.Glob(program)
	if len(found) == 0 {
		return "", false
	}
	return found[len(found)-1], true // the newest of several versions
}
