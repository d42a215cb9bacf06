package servers

import "fmt"

// RunPostgres, RunMariaDB and RunRedis start a durable server for a program that
// is no test, and that calls [Server.Remove].

// Place is where a server of a program's own lives. The zero Place is a new folder.
type Place struct {
	Folder  string   // of its data: exists, is empty, and is given to the server's user
	Sockets string   // the folder of a unix socket beside the TCP port; empty: none. Its path is short: Linux allows 107 bytes
	Args    []string // further arguments, of every start
}

// RunPostgres starts a PostgreSQL.
func RunPostgres() (*Server, error) { return run(postgres(), Place{}) }

// RunPostgresAt starts a PostgreSQL with a database of the name given.
func RunPostgresAt(at Place, database string) (*Server, error) {
	s, err := run(postgres(), at)
	if err != nil {
		return nil, err
	}
	if err := s.recipe.create(s, database); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// RunMariaDB starts a MariaDB, with an empty database of the name given.
func RunMariaDB(database string) (*Server, error) {
	s, err := run(mariadb(), Place{})
	if err != nil {
		return nil, err
	}
	if err := s.recipe.create(s, database); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// RunRedis starts a Redis, which answers when its log is on disk.
func RunRedis() (*Server, error) { return run(redis(), Place{}) }

// RunRedisAt starts such a Redis.
func RunRedisAt(at Place) (*Server, error) { return run(redis(), at) }

// Socket is where a client finds the database of this name on the unix socket: a
// URL for pgx, a path for Redis.
func (s *Server) Socket(database string) string { return s.recipe.socket(s, database) }

// Crash ends the server and its children with SIGKILL: nothing is flushed. It may
// have ended before.
func (s *Server) Crash() error {
	if err := s.process.kill(); err != nil {
		return fmt.Errorf("kill %s: %w", s.recipe.name, err)
	}
	return nil
}

// Shutdown ends the server in good order.
func (s *Server) Shutdown() error {
	if err := s.process.signal(s.recipe.shutdown); err != nil {
		return fmt.Errorf("stop %s: %w", s.recipe.name, err)
	}
	<-s.process.exited
	return nil
}

// Launch starts a server that has ended, on what it left in its folder, with
// arguments that hold for this time.
func (s *Server) Launch(extra ...string) error { return s.start(extra...) }

// Pause stops the server and its children, with SIGSTOP.
func (s *Server) Pause() error {
	if err := s.process.pause(); err != nil {
		return fmt.Errorf("pause %s: %w", s.recipe.name, err)
	}
	return nil
}

// Resume lets a paused server go on.
func (s *Server) Resume() error {
	if err := s.process.resume(); err != nil {
		return fmt.Errorf("resume %s: %w", s.recipe.name, err)
	}
	return nil
}

// Remove ends the server and forgets its data.
func (s *Server) Remove() { s.remove() }

func run(r recipe, at Place) (*Server, error) {
	if !supported {
		return nil, fmt.Errorf("%s: servers are started on Linux only", r.name)
	}
	program, ok := lookUp(r.program)
	if !ok {
		return nil, fmt.Errorf("no %s here: apt-get install %s", r.name, r.debian)
	}
	return launch(r, program, true, at)
}
