package servers

import (
	"bufio"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A program's own servers live where it says, answer on their unix sockets, stand
// still when they are paused, and keep what they acknowledged when they are killed.
func TestServersOfAProgram(t *testing.T) {
	t.Run("PostgreSQL", func(t *testing.T) {
		postgres().find(t)
		at := place(t)
		s, err := RunPostgresAt(at, "chaos")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Remove()
		must(t, execute("pgx", s.Socket("chaos"), "CREATE TABLE kept (n int)"))
		must(t, s.Pause())
		answered := make(chan error, 1)
		go func() { answered <- execute("pgx", s.Socket("chaos"), "INSERT INTO kept VALUES (1)") }()
		silent(t, answered)
		must(t, s.Resume())
		must(t, <-answered)
		must(t, s.Crash())
		must(t, s.Launch())
		must(t, execute("pgx", s.Socket("chaos"), "SELECT 1/count(*) FROM kept")) // fails on an empty table
	})
	t.Run("Redis", func(t *testing.T) {
		redis().find(t)
		s, err := RunRedisAt(place(t))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Remove()
		ask(t, s, "SET k v", "+OK\r\n")
		must(t, s.Pause())
		must(t, s.Crash())
		must(t, s.Crash()) // a second time is no error
		must(t, s.Launch("--appendfsync", "everysec"))
		ask(t, s, "EXISTS k", ":1\r\n")
		ask(t, s, "CONFIG GET appendfsync", "*2\r\n")
	})
}

func place(t *testing.T) Place {
	t.Helper()
	folder, err := os.MkdirTemp("", "fencelock-place")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o755))
	at := Place{Folder: filepath.Join(folder, "data"), Sockets: filepath.Join(folder, "sockets")}
	must(t, os.Mkdir(at.Folder, 0o700))
	must(t, os.Mkdir(at.Sockets, 0o700))
	return at
}

func silent(t *testing.T, answered <-chan error) {
	t.Helper()
	select {
	case err := <-answered:
		t.Errorf("a paused server answered: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
}

func ask(t *testing.T, s *Server, command, want string) {
	t.Helper()
	conn, err := net.Dial("unix", s.Socket(""))
	must(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(command + "\r\n"))
	must(t, errors.Join(err, conn.SetReadDeadline(time.Now().Add(10*time.Second))))
	if got, err := bufio.NewReader(conn).ReadString('\n'); got != want {
		t.Errorf("%s: got %q, %v, want %q", command, got, err, want)
	}
}
