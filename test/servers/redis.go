package servers

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Redis returns the URL of an empty database, for go-redis and rueidis.
func Redis(t testing.TB) string { t.Helper(); return share(t, redis()) }

// StartRedis starts a Redis of the test's own, with further arguments. It answers
// when its log is on disk.
func StartRedis(t testing.TB, args ...string) *Server {
	t.Helper()
	return startOwn(t, redis(), args)
}

// redisDatabases is as many tests as one process can have that share a Redis.
const redisDatabases = 1024

func redis() recipe {
	return recipe{
		name:     "Redis",
		program:  "redis-server",
		debian:   "redis-server",
		ready:    "Ready to accept connections",
		shutdown: syscall.SIGTERM,
		orphaned: syscall.SIGKILL,
		prepare:  func(*Server) error { return nil },
		args: func(s *Server) []string {
			args := []string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.folder, "--save", "",
				"--databases", strconv.Itoa(redisDatabases)}
			if s.durable {
				args = append(args, "--appendonly", "yes", "--appendfsync", "always")
			}
			if s.sockets != "" {
				args = append(args, "--unixsocket", redisSocket(s, ""))
			}
			return args
		},
		socket: redisSocket,
		dsn: func(s *Server, database string) string {
			return fmt.Sprintf("redis://%s/%s", s.Addr(), strings.TrimPrefix(database, databasePrefix))
		},
		create: func(*Server, string) error { return nil },
		drop:   func(*Server, string) error { return nil },
	}
}

func redisSocket(s *Server, _ string) string { return filepath.Join(s.sockets, "redis") }
