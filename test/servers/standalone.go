package servers

import "fmt"

// RunPostgres, RunMariaDB and RunRedis start a durable server for a program that
// is no test, and that calls [Server.Remove].

// RunPostgres starts a PostgreSQL.
func RunPostgres() (*Server, error) { return run(postgres()) }

// RunMariaDB starts a MariaDB, with an empty database of the name given.
func RunMariaDB(database string) (*Server, error) {
	s, err := run(mariadb())
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
func RunRedis() (*Server, error) { return run(redis()) }

// Remove ends the server and forgets its data.
func (s *Server) Remove() { s.remove() }

func run(r recipe) (*Server, error) {
	if !supported {
		return nil, fmt.Errorf("%s: servers are started on Linux only", r.name)
	}
	program, ok := lookUp(r.program)
	if !ok {
		return nil, fmt.Errorf("no %s here: apt-get install %s", r.name, r.debian)
	}
	return launch(r, program, true)
}
