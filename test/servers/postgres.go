package servers

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Postgres returns the URL of a fresh database, for pgx and psql.
func Postgres(t testing.TB) string { t.Helper(); return share(t, postgres()) }

// StartPostgres starts a PostgreSQL of the test's own, with further arguments.
func StartPostgres(t testing.TB, args ...string) *Server {
	t.Helper()
	return startOwn(t, postgres(), args)
}

// Psql returns the path of the psql that belongs to the server.
func Psql(t testing.TB) string {
	t.Helper()
	return filepath.Join(filepath.Dir(postgres().find(t)), "psql")
}

func postgres() recipe {
	return recipe{
		name:     "PostgreSQL",
		program:  "/usr/lib/postgresql/*/bin/postgres",
		debian:   "postgresql",
		ready:    "database system is ready to accept connections",
		shutdown: syscall.SIGINT,
		orphaned: syscall.SIGQUIT, // ends its children too
		prepare: func(s *Server) error {
			return s.run("", filepath.Join(filepath.Dir(s.program), "initdb"), "-D", s.sub("data"), "-U", "postgres",
				"--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
		},
		args: postgresArgs,
		dsn: func(s *Server, database string) string {
			return fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", s.Addr(), database)
		},
		socket: func(s *Server, database string) string {
			return fmt.Sprintf("postgres://postgres@/%s?host=%s&port=%d&sslmode=disable", database, url.QueryEscape(s.sockets), s.port)
		},
		create: func(s *Server, database string) error {
			return execute("pgx", s.DSN("postgres"), "CREATE DATABASE "+database)
		},
		drop: func(s *Server, database string) error {
			return execute("pgx", s.DSN("postgres"), "DROP DATABASE "+database+" WITH (FORCE)")
		},
	}
}

func postgresArgs(s *Server) []string {
	args := []string{"-D", s.sub("data"), "-p", strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=" + s.sockets, "-c", "max_connections=200"}
	if !s.durable {
		args = append(args, "-F", "-c", "full_page_writes=off")
	}
	return args
}

// execute runs one statement on a connection of its own.
func execute(driver, dsn, statement string) error {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
