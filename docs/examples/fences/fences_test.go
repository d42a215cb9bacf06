package fences

import (
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	_ "modernc.org/sqlite"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// Every example ends with the refusal of the holder that was overtaken.
func TestOvertakenHoldersAreRefused(t *testing.T) {
	locks, err := client.New(client.Config{Endpoints: clustertest.Start(t, 1).Endpoints()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { locks.Close() })
	ctx := t.Context()
	for name, example := range map[string]func(t *testing.T) error{
		"PostgreSQL": func(t *testing.T) error { return inPostgreSQL(ctx, locks, bank(t, "pgx", servers.Postgres(t))) },
		"MariaDB":    func(t *testing.T) error { return inMySQL(ctx, locks, bank(t, "mysql", servers.MariaDB(t))) },
		"SQLite": func(t *testing.T) error {
			return inSQLite(ctx, locks, bank(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "bank.db")))
		},
		"go-redis": func(t *testing.T) error { return inRedis(ctx, locks, viaGoRedis(dial(t, servers.Redis(t)))) },
		"rueidis":  func(t *testing.T) error { return inRedis(ctx, locks, viaRueidis(dialRueidis(t, servers.Redis(t)))) },
		"file":     func(t *testing.T) error { return inFile(ctx, locks, filepath.Join(t.TempDir(), "report")) },
		"HTTP":     func(*testing.T) error { return overHTTP(ctx, locks) },
		"gRPC":     func(t *testing.T) error { return overGRPC(ctx, locks, listen(t)) },
		"KV":       func(*testing.T) error { return inKV(ctx, locks) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := example(t); !errors.Is(err, fencing.ErrStale) {
				t.Errorf("the overtaken holder: got %v, want %v", err, fencing.ErrStale)
			}
		})
	}
}

// bank is a database with account 42.
func bank(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, statement := range []string{
		"CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)",
		"INSERT INTO accounts VALUES (42, 100)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func dial(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	rdb := redis.NewClient(options)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func dialRueidis(t *testing.T, url string) rueidis.Client {
	t.Helper()
	options, err := rueidis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.DisableCache = true // scripts make no use of it
	rdb, err := rueidis.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rdb.Close)
	return rdb
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The Go code of docs/fencing.md is that of this package, letter by letter.
func TestDocumentShowsTestedCode(t *testing.T) {
	document, err := os.ReadFile("../../fencing.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	files, _ := filepath.Glob("*.go")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			source.Write(text)
		}
	}
	shown := untested(string(document), source.String())
	for _, code := range shown {
		t.Errorf("docs/fencing.md shows code that is not in docs/examples/fences:\n%s", code)
	}
	const resources = 8
	if got := strings.Count(string(document), "```go\n"); got != resources+2 {
		t.Errorf("docs/fencing.md: got %d blocks of Go, want %d, the one that overtakes, and a second client of Redis", got, resources)
	}
}

func TestDocumentRuleCanFail(t *testing.T) {
	document := "```go\nfunc a() {}\n```\n```go\nfunc b() {}\n```\n"
	if got := untested(document, "func a() {}\n"); len(got) != 1 {
		t.Errorf("got objections %q, want one, to b", got)
	}
}

// untested is the blocks of Go in a document that the source does not have.
func untested(document, source string) (blocks []string) {
	for _, block := range strings.Split(document, "```go\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(source, code) {
			blocks = append(blocks, code)
		}
	}
	return blocks
}
