package servers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Server is one running server, with a folder and a port of its own.
type Server struct {
	recipe  recipe
	program string
	durable bool
	extra   []string // arguments that the test gives
	folder  string
	sockets string // the folder of its unix socket; empty: it has none
	port    int
	process *process
}

// DSN is where a client finds the database of this name. A server that was
// started anew is found where it was before.
func (s *Server) DSN(database string) string { return s.recipe.dsn(s, database) }

// Addr is the server's host and port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// Kill ends the server and its children with SIGKILL: nothing is flushed.
func (s *Server) Kill(t testing.TB) { t.Helper(); must(t, s.Crash()) }

// Stop shuts the server down in good order.
func (s *Server) Stop(t testing.TB) { t.Helper(); must(t, s.Shutdown()) }

// Start starts a server that was killed or stopped, on what it left in its folder.
func (s *Server) Start(t testing.TB) { t.Helper(); must(t, s.Launch()) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// startOwn starts a durable server that ends with the test.
func startOwn(t testing.TB, r recipe, extra []string) *Server {
	t.Helper()
	s, err := launch(r, r.find(t), true, Place{Args: extra})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	return s
}

// launch starts a server on an empty folder.
func launch(r recipe, program string, durable bool, at Place) (*Server, error) {
	s := &Server{recipe: r, program: program, durable: durable, extra: at.Args, folder: at.Folder, sockets: at.Sockets}
	if err := s.settle(); err != nil {
		return nil, err
	}
	if err := s.boot(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// settle makes the folder, or takes the one that is given.
func (s *Server) settle() (err error) {
	if s.folder == "" {
		s.folder, err = newFolder(s.durable)
		return err
	}
	for _, folder := range []string{s.folder, s.sockets} {
		if folder != "" && err == nil {
			err = handOver(folder)
		}
	}
	return err
}

func (s *Server) boot() error {
	if err := s.recipe.prepare(s); err != nil {
		return fmt.Errorf("prepare %s: %w", s.recipe.name, err)
	}
	for {
		port, err := freePort()
		if err != nil {
			return err
		}
		s.port = port
		// Somebody else can have taken the port since.
		if err := s.start(); err == nil || !strings.Contains(err.Error(), "already in use") {
			return err
		}
	}
}

// starts bounds how often a server is started before one failure counts. What a
// killed PostgreSQL shared with its children is free only when the last has gone.
const starts = 50

func (s *Server) start(extra ...string) error {
	var failures []error
	args := slices.Concat(s.recipe.args(s), s.extra, extra)
	for range starts {
		p, err := startProcess(s.folder, s.program, args, s.recipe.ready, s.recipe.orphaned)
		if err == nil {
			s.process = p
			return nil
		}
		failures = append(failures, err)
		if !strings.Contains(err.Error(), "pre-existing shared memory block") {
			break
		}
	}
	return fmt.Errorf("start %s: %w", s.recipe.name, errors.Join(failures...))
}

// remove ends the server and forgets its data.
func (s *Server) remove() {
	if s.process != nil {
		_ = s.process.kill() // already dead, if the test killed it
	}
	_ = os.RemoveAll(s.folder)
}

// sub is a place in the server's folder.
func (s *Server) sub(name string) string { return filepath.Join(s.folder, name) }

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// run runs a program to its end in the server's folder, as the server's user.
func (s *Server) run(stdin, program string, args ...string) error {
	cmd := command(s.folder, program, args, syscall.SIGKILL)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}
