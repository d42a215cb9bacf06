package sqlfence_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
	"github.com/fencelock/fencelock/test/netfault"
	"github.com/fencelock/fencelock/test/servers"
)

// networked runs a test in every database that is reached by a network: db
// directly, far through a proxy.
func networked(t *testing.T, test func(t *testing.T, db, far *database, proxy *netfault.Proxy)) {
	for _, dialect := range []sqlfence.Dialect{sqlfence.PostgreSQL, sqlfence.MySQL} {
		t.Run(string(dialect), func(t *testing.T) {
			db := open(t, dialect)
			addr := addressOf(db.dsn)
			proxy := netfault.New(t, addr)
			test(t, db, connect(t, dialect, strings.Replace(db.dsn, addr, proxy.Addr(), 1)), proxy)
		})
	}
}

func addressOf(dsn string) string {
	_, rest, _ := strings.Cut(dsn, "127.0.0.1:")
	return "127.0.0.1:" + rest[:strings.IndexAny(rest, "/)")]
}

// The answer to a commit is lost: it may have been done, or not.
func TestLostCommitIsUncertain(t *testing.T) {
	networked(t, func(t *testing.T, db, far *database, proxy *netfault.Proxy) {
		f := db.fence(t, sqlfence.Config{})
		for name, c := range map[string]struct {
			lose   func()
			passed func() int64
			await  func(ctx context.Context, n int64) error
			landed string
		}{
			"done":     {proxy.DropReplies, proxy.BytesDown, proxy.AwaitDown, "1"},
			"not done": {proxy.StallRequests, proxy.BytesUp, proxy.AwaitUp, "0"},
		} {
			proxy.Pass()
			db.exec(t, "DELETE FROM records")
			err := f.Do(as(t, 33), far, guard, func(tx *sql.Tx) error {
				err := insert(db, name)(tx)
				before := c.passed()
				c.lose()
				go func() {
					_ = c.await(t.Context(), before+1) // the commit, or its answer
					proxy.Reset()
				}()
				return err
			})
			if !errors.Is(err, fencing.ErrUncertain) {
				t.Errorf("%s: got %v, want ErrUncertain", name, err)
			}
			// Behind the same fence it is decided.
			var count string
			err = f.Do(as(t, 33), db, guard, func(tx *sql.Tx) error {
				return tx.QueryRow("SELECT COUNT(*) FROM records").Scan(&count)
			})
			if err != nil || count != c.landed {
				t.Errorf("%s: %s records, %v, want %s", name, count, err, c.landed)
			}
		}
	})
}

// A commit that is under way holds the fence: whoever comes next waits, and then
// sees it.
func TestCommitUnderWayHoldsTheFence(t *testing.T) {
	networked(t, func(t *testing.T, db, far *database, proxy *netfault.Proxy) {
		f := db.fence(t, sqlfence.Config{})
		slow := make(chan error, 1)
		stalled := make(chan struct{})
		go func() {
			slow <- f.Do(as(t, 33), far, guard, func(tx *sql.Tx) error {
				err := insert(db, "slow")(tx)
				proxy.StallRequests()
				close(stalled)
				return err
			})
		}()
		<-stalled
		next := make(chan error, 1)
		var count string
		go func() {
			next <- f.Do(as(t, 34), db, guard, func(tx *sql.Tx) error {
				return tx.QueryRow("SELECT COUNT(*) FROM records").Scan(&count)
			})
		}()
		db.awaitWaiter(t)
		proxy.Pass()
		if err := <-slow; err != nil {
			t.Error(err)
		}
		if err := <-next; err != nil || count != "1" {
			t.Errorf("the next holder sees %s records, %v, want 1", count, err)
		}
	})
}

// What is cut before the commit is not uncertain.
func TestCutBeforeTheCommitIsCertain(t *testing.T) {
	networked(t, func(t *testing.T, db, far *database, proxy *netfault.Proxy) {
		f := db.fence(t, sqlfence.Config{})
		err := f.Do(as(t, 33), far, guard, func(tx *sql.Tx) error {
			proxy.Reset()
			return insert(db, "a")(tx)
		})
		if err == nil || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("got %v, want an error that leaves no doubt", err)
		}
		proxy.Refuse()
		if err := f.Do(as(t, 33), far, guard, insert(db, "a")); err == nil || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("without a connection: got %v, want an error that leaves no doubt", err)
		}
		proxy.Pass()
		if got := db.count(t); got != "0" {
			t.Errorf("%s records, want none", got)
		}
	})
}

// What PostgreSQL itself says of a commit is certain.
func TestRefusedCommitIsCertain(t *testing.T) {
	db := open(t, sqlfence.PostgreSQL)
	f := db.fence(t, sqlfence.Config{})
	db.exec(t, "CREATE TABLE parents (id INT PRIMARY KEY)", "CREATE TABLE children (parent INT REFERENCES parents DEFERRABLE INITIALLY DEFERRED)")
	err := f.Do(as(t, 33), db, guard, inside("INSERT INTO children VALUES (1)"))
	if err == nil || errors.Is(err, fencing.ErrUncertain) {
		t.Errorf("got %v, want the constraint's error and no doubt", err)
	}
}

// The server is killed between any two steps of a transaction, and started again.
func TestKilledServerKeepsTheFence(t *testing.T) {
	for dialect, start := range map[sqlfence.Dialect]func(testing.TB, ...string) *servers.Server{
		sqlfence.PostgreSQL: servers.StartPostgres, sqlfence.MySQL: servers.StartMariaDB,
	} {
		t.Run(string(dialect), func(t *testing.T) {
			s := start(t)
			db := connect(t, dialect, s.DSN(map[sqlfence.Dialect]string{sqlfence.PostgreSQL: "postgres", sqlfence.MySQL: "mysql"}[dialect]))
			db.SetMaxIdleConns(0) // what is read behind the fence's back needs a living connection
			db.exec(t, "CREATE TABLE records (guard VARCHAR(255), name VARCHAR(255), value VARCHAR(255), PRIMARY KEY (guard, name))")
			f := db.fence(t, sqlfence.Config{})
			holder := func(token fencing.Token, fn func(tx *sql.Tx) error) error {
				return f.Do(as(t, token), db, guard, fn)
			}
			want := func(after string, fence fencing.Token, count string) {
				t.Helper()
				if got, err := f.Highest(context.Background(), db, guard); err != nil || got != fence {
					t.Errorf("killed %s: the fence stands at %v, %v, want %v", after, got, err, fence)
				}
				if got := db.count(t); got != count {
					t.Errorf("killed %s: %s records, want %s", after, got, count)
				}
			}
			again := func() { s.Kill(t); s.Start(t) }

			if err := holder(33, insert(db, "a")); err != nil {
				t.Fatal(err)
			}
			again()
			want("after the commit", 33, "1")
			if err := holder(34, func(*sql.Tx) error { again(); return nil }); err == nil {
				t.Error("killed after the advance: the holder was told that it is done")
			}
			want("after the advance", 33, "1")
			if err := holder(34, func(tx *sql.Tx) error { err := insert(db, "b")(tx); again(); return err }); err == nil {
				t.Error("killed before the commit: the holder was told that it is done")
			}
			want("before the commit", 33, "1")
			if err := holder(34, func(*sql.Tx) error { return nil }); err != nil { // a read claims the fence too
				t.Error(err)
			}
			again()
			want("after a read", 34, "1")
			if err := holder(33, insert(db, "late")); !errors.Is(err, fencing.ErrStale) {
				t.Errorf("the holder before: got %v, want ErrStale", err)
			}
			s.Stop(t)
			s.Start(t)
			want("not, but stopped", 34, "1")
		})
	}
}

// Parameters of the drivers that change what an upsert answers, or how values travel.
func TestDriverParameters(t *testing.T) {
	for _, c := range []struct {
		dialect sqlfence.Dialect
		option  string
	}{
		{sqlfence.MySQL, "clientFoundRows=true"},
		{sqlfence.MySQL, "interpolateParams=true"},
		{sqlfence.MySQL, "interpolateParams=true&clientFoundRows=true&parseTime=true&multiStatements=true"},
		{sqlfence.MySQL, "charset=latin1"},
		{sqlfence.MySQL, "sql_mode=%27ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES%27"},
		{sqlfence.PostgreSQL, "default_query_exec_mode=simple_protocol"},
		{sqlfence.PostgreSQL, "default_query_exec_mode=exec"},
		{sqlfence.PostgreSQL, "default_query_exec_mode=cache_describe"},
		{sqlfence.SQLite, "_txlock=immediate"},
	} {
		t.Run(string(c.dialect)+" "+c.option, func(t *testing.T) {
			dsn, sign := open(t, c.dialect).dsn, "?"
			if strings.Contains(dsn, "?") {
				sign = "&"
			}
			db := connect(t, c.dialect, dsn+sign+c.option)
			for _, protected := range []bool{false, true} {
				f := db.fence(t, sqlfence.Config{Protected: protected, Table: map[bool]string{false: "f", true: "p"}[protected]})
				const name = "é🔒 'x"
				do := func(token fencing.Token) error {
					ctx := fencing.NewContext(t.Context(), fencing.Sequencer{Lock: name, Token: token})
					return f.Do(ctx, db, name, func(*sql.Tx) error { return nil })
				}
				const high = 1<<53 + 1
				for _, token := range []fencing.Token{high - 1, high - 1, high, high} {
					if err := do(token); err != nil {
						t.Errorf("token %v: %v", token, err)
					}
				}
				if err := do(high - 1); !errors.Is(err, fencing.ErrStale) {
					t.Errorf("a lower token: got %v, want ErrStale", err)
				}
				if got, err := f.Highest(t.Context(), db, name); err != nil || got != high {
					t.Errorf("the fence stands at %v, %v, want %v", got, err, fencing.Token(high))
				}
			}
		})
	}
}
