package servers

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv(dieEnv) != "" {
		holdServers()
	}
	Main(m)
}

func TestDatabasesAreFreshAndShareOneServer(t *testing.T) {
	for name, c := range map[string]struct {
		driver string
		get    func(testing.TB) string
	}{"postgres": {"pgx", Postgres}, "mariadb": {"mysql", MariaDB}} {
		t.Run(name, func(t *testing.T) {
			first, second := c.get(t), c.get(t)
			for _, dsn := range []string{first, second} {
				if err := execute(c.driver, dsn, "CREATE TABLE t (n INT)"); err != nil {
					t.Error(err)
				}
			}
			if address(first) != address(second) || first == second {
				t.Errorf("got %s and %s, want two databases of one server", first, second)
			}
		})
	}
	if a, b := Redis(t), Redis(t); a == b || address(a) != address(b) {
		t.Errorf("got %s and %s, want two databases of one server", a, b)
	}
}

func address(dsn string) string { return dsn[:strings.LastIndex(dsn, "/")] }

// What a killed server has acknowledged is there when it starts again.
func TestOwnServersSurviveAKill(t *testing.T) {
	for name, c := range map[string]struct {
		driver, database string
		start            func(testing.TB, ...string) *Server
	}{"postgres": {"pgx", "postgres", StartPostgres}, "mariadb": {"mysql", "mysql", StartMariaDB}} {
		t.Run(name, func(t *testing.T) {
			s := c.start(t)
			dsn := s.DSN(c.database)
			for i, end := range []func(testing.TB){s.Kill, s.Stop} {
				if err := execute(c.driver, dsn, fmt.Sprintf("CREATE TABLE t%d (n INT)", i)); err != nil {
					t.Fatal(err)
				}
				end(t)
				if err := ping(c.driver, dsn); err == nil {
					t.Error("it still answers")
				}
				s.Start(t)
				if err := execute(c.driver, dsn, fmt.Sprintf("INSERT INTO t%d VALUES (1)", i)); err != nil {
					t.Errorf("after the restart: %v", err)
				}
			}
		})
	}
}

func ping(driver, dsn string) error {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Ping()
}

func TestProgramThatCannotRunIsReported(t *testing.T) {
	s := StartRedis(t)
	s.Kill(t)
	s.recipe.args = func(*Server) []string { return []string{"--no-such-option"} }
	if err := s.start(); err == nil || !strings.Contains(err.Error(), "no-such-option") {
		t.Errorf("got %v, want what the server said", err)
	}
}

const dieEnv = "FENCELOCK_SERVERS_HOLD"

// holdServers is the life of a test process that dies while its servers run.
func holdServers() {
	var stop []func()
	for _, r := range []recipe{postgres(), mariadb(), redis()} {
		program, ok := lookUp(r.program)
		if !ok {
			continue
		}
		s, err := launch(r, program, false, Place{})
		if err != nil {
			fmt.Println("error", err)
			break
		}
		stop = append(stop, s.remove)
		fmt.Println(s.Addr(), s.folder)
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed, or its parent is gone
	for _, f := range stop {
		f()
	}
	os.Exit(1)
}

// A test process that is killed leaves no server running, and the next one
// removes its folders.
func TestNothingOutlivesAKilledTestProcess(t *testing.T) {
	if !supported {
		t.Skip("servers are started on Linux only")
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), dieEnv+"=1")
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var addrs, folders []string
	for lines := bufio.NewScanner(stdout); lines.Scan() && lines.Text() != "ready"; {
		addr, folder, _ := strings.Cut(lines.Text(), " ")
		addrs, folders = append(addrs, addr), append(folders, folder)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	if len(addrs) == 0 {
		t.Skip("no server is installed")
	}
	for _, addr := range addrs {
		awaitClosed(t, addr)
	}
	sweep()
	for _, folder := range folders {
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
}

// awaitClosed waits until nobody listens at addr.
func awaitClosed(t *testing.T, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for again := time.NewTicker(10 * time.Millisecond); ; <-again.C {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if ctx.Err() != nil {
			t.Fatalf("%s still listens", addr)
		}
		if err != nil {
			return
		}
		conn.Close()
	}
}
