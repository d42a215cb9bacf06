package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql"
)

// MariaDB returns the DSN of a fresh database, for go-sql-driver/mysql.
func MariaDB(t testing.TB) string { t.Helper(); return share(t, mariadb()) }

// StartMariaDB starts a MariaDB of the test's own, with further arguments.
func StartMariaDB(t testing.TB, args ...string) *Server {
	t.Helper()
	return startOwn(t, mariadb(), args)
}

func mariadb() recipe {
	return recipe{
		name:     "MariaDB",
		program:  "/usr/sbin/mariadbd",
		debian:   "mariadb-server-core",
		ready:    "ready for connections",
		shutdown: syscall.SIGTERM,
		orphaned: syscall.SIGKILL,
		prepare:  bootstrapMariaDB,
		args:     mariadbArgs,
		dsn: func(s *Server, database string) string {
			return fmt.Sprintf("root@tcp(%s)/%s", s.Addr(), database)
		},
		create: func(s *Server, database string) error {
			return execute("mysql", s.DSN(""), "CREATE DATABASE "+database)
		},
		drop: func(s *Server, database string) error {
			return execute("mysql", s.DSN(""), "DROP DATABASE "+database)
		},
	}
}

// bootstrapMariaDB does what mariadb-install-db does, which needs more packages.
func bootstrapMariaDB(s *Server) error {
	script := "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n"
	for _, name := range []string{"mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql"} {
		text, err := os.ReadFile(filepath.Join("/usr/share/mysql", name))
		if err != nil {
			return err
		}
		script += string(text)
	}
	if err := os.Mkdir(s.sub("data"), 0o700); err != nil {
		return err
	}
	if err := handOver(s.sub("data")); err != nil {
		return err
	}
	return s.run(script, s.program, append(mariadbArgs(s), "--bootstrap", "--innodb-flush-log-at-trx-commit=0")...)
}

func mariadbArgs(s *Server) []string {
	args := []string{"--no-defaults", "--datadir=" + s.sub("data"), "--socket=" + s.sub("socket"), "--pid-file=" + s.sub("pid"),
		"--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", s.port), "--skip-name-resolve", "--max-connections=200",
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M"}
	if !s.durable {
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	}
	return args
}
