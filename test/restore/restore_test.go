package restore

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/cluster/snapshot"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

const guard = "accounts/42"

// life is the life of one cluster: its addresses stay, its folders do not.
type life struct {
	t       *testing.T
	configs []cluster.Config
	members []*cluster.Member
}

func newLife(t *testing.T, n int) *life {
	t.Helper()
	l := &life{t: t, configs: clustertest.Configs(t, clustertest.Config{Members: n}), members: make([]*cluster.Member, n)}
	t.Cleanup(l.end)
	l.begin()
	return l
}

func (l *life) begin() {
	l.t.Helper()
	errs := make([]error, len(l.configs))
	var wg sync.WaitGroup
	for i, cfg := range l.configs {
		wg.Go(func() { l.members[i], errs[i] = cluster.Start(l.t.Context(), cfg) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		l.t.Fatal(err)
	}
}

// end is the loss of every member.
func (l *life) end() {
	var wg sync.WaitGroup
	for _, m := range l.members {
		wg.Go(func() {
			if m != nil {
				_ = m.Kill()
			}
		})
	}
	wg.Wait()
	clear(l.members)
}

func (l *life) client() *client.Client {
	l.t.Helper()
	var endpoints []string
	for _, cfg := range l.configs {
		endpoints = append(endpoints, cfg.ListenClient[0])
	}
	c, err := client.New(client.Config{Endpoints: endpoints})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = c.Close() })
	return c
}

// save returns a new snapshot of the cluster.
func (l *life) save(c *client.Client) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), "snapshot.db")
	revision, err := snapshot.Revision(l.t.Context(), c.Etcd())
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := snapshot.Save(l.t.Context(), c.Etcd(), snapshot.SaveConfig{Path: path, AtLeast: revision}); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// restore loses every member and begins again, in new folders, as an operator
// would: the floor of the first host is given on the others.
func (l *life) restore(file string) {
	l.t.Helper()
	l.end()
	dir := l.t.TempDir()
	var floor int64
	for i := range l.configs {
		l.configs[i].DataDir = filepath.Join(dir, l.configs[i].Name)
		r, err := snapshot.Restore(l.t.Context(), snapshot.RestoreConfig{Snapshot: file, DataDir: l.configs[i].DataDir, Floor: floor})
		if err != nil {
			l.t.Fatal(err)
		}
		floor = r.Origin.Floor
	}
	l.begin()
}

// ledger is one row that remembers the highest token that wrote it.
type ledger struct {
	t     *testing.T
	db    *sql.DB
	fence *sqlfence.Fence
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "data.db")+"?_pragma=busy_timeout(20000)&_pragma=recursive_triggers(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	fence, err := sqlfence.New(sqlfence.Config{Dialect: sqlfence.SQLite})
	if err != nil {
		t.Fatal(err)
	}
	if err := fence.CreateTable(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE ledger (id INTEGER PRIMARY KEY, balance INTEGER); INSERT INTO ledger VALUES (42, 0)"); err != nil {
		t.Fatal(err)
	}
	return &ledger{t: t, db: db, fence: fence}
}

func (l *ledger) write(seq fencing.Sequencer, balance int) error {
	return l.fence.Do(fencing.NewContext(l.t.Context(), seq), l.db, guard, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE ledger SET balance = ? WHERE id = 42", balance)
		return err
	})
}

func (l *ledger) balance() (balance int) {
	l.t.Helper()
	if err := l.db.QueryRow("SELECT balance FROM ledger WHERE id = 42").Scan(&balance); err != nil {
		l.t.Fatal(err)
	}
	return balance
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func lock(t *testing.T, c *client.Client) *client.Lock {
	t.Helper()
	l, err := c.Lock(within(t), guard)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRestoreIssuesNoTokenTwice(t *testing.T) {
	for _, members := range []int{1, 3} {
		l, row := newLife(t, members), newLedger(t)
		old := l.client()
		before := lock(t, old)
		if _, err := before.KV().Put(within(t), "k", []byte("before")); err != nil {
			t.Fatal(err)
		}
		file := l.save(old) // while the lock is held
		if err := before.Unlock(within(t)); err != nil {
			t.Fatal(err)
		}

		after := lock(t, old) // the snapshot does not know of this one
		if _, err := after.KV().Put(within(t), "k", []byte("after")); err != nil {
			t.Fatal(err)
		}
		if err := row.write(after.Sequencer(), 100); err != nil {
			t.Fatal(err)
		}
		waiter := waitFor(t, l.client())
		l.restore(file)
		checkOldWorld(t, l, row, old, after, waiter)
		first := checkNewWorld(t, l, row, after)

		l.restore(file) // once more, although the first one has issued tokens
		second := lock(t, l.client())
		if second.Token() <= first.Token() {
			t.Errorf("%d members, second restore: got token %v, want above %v", members, second.Token(), first.Token())
		}
		if err := row.write(second.Sequencer(), 300); err != nil {
			t.Errorf("%d members, second restore: %v", members, err)
		}
		if err := row.write(first.Sequencer(), 1); !errors.Is(err, fencing.ErrStale) || row.balance() != 300 {
			t.Errorf("%d members, holder of the first restore: got %v, and the balance %d, want %v, 300", members, err, row.balance(), fencing.ErrStale)
		}
	}
}

// waitFor has a client of its own wait for the lock, and returns its error.
func waitFor(t *testing.T, c *client.Client) <-chan error {
	t.Helper()
	ctx, result := within(t), make(chan error, 1)
	go func() {
		_, err := c.Lock(ctx, guard)
		result <- err
	}()
	for { // until it stands in the queue
		info, err := c.Inspect(ctx, guard)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Waiters) > 0 {
			return result
		}
	}
}

// checkOldWorld: nobody from before the restore gets through, whether it knows of
// the restore or not.
func checkOldWorld(t *testing.T, l *life, row *ledger, old *client.Client, held *client.Lock, waiter <-chan error) {
	t.Helper()
	// The row still knows the last token of the old world: equal is admitted, and
	// must be, until someone newer comes. The cluster refuses at once.
	if _, err := held.KV().Put(within(t), "k", []byte("late")); !refused(err) {
		t.Errorf("put by a live handle: got %v, want a refusal", err)
	}
	bare, err := old.KV(held.Sequencer())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Put(within(t), "k", []byte("late")); !refused(err) {
		t.Errorf("put by an old sequencer: got %v, want a refusal", err)
	}
	if _, err := bare.Get(within(t), "k"); !refused(err) {
		t.Errorf("get by an old sequencer: got %v, want a refusal", err)
	}
	if err := old.Check(within(t), held.Sequencer()); !refused(err) {
		t.Errorf("check of an old sequencer: got %v, want a refusal", err)
	}
	if err := <-waiter; !errors.Is(err, client.ErrLost) {
		t.Errorf("waiter: got %v, want %v", err, client.ErrLost)
	}
	<-held.Done()
	if !errors.Is(held.Err(), client.ErrLost) {
		t.Errorf("live handle: got %v, want %v", held.Err(), client.ErrLost)
	}
	info, err := l.client().Inspect(within(t), guard)
	if err != nil || len(info.Holders) != 0 {
		t.Errorf("got holders %v, %v, want none", info.Holders, err)
	}
	if row.balance() != 100 {
		t.Errorf("got balance %d, want 100", row.balance())
	}
}

func refused(err error) bool {
	return errors.Is(err, fencing.ErrStale) || errors.Is(err, fencing.ErrNotHeld) || errors.Is(err, client.ErrLost)
}

// checkNewWorld takes the lock, and leaves it held.
func checkNewWorld(t *testing.T, l *life, row *ledger, old *client.Lock) *client.Lock {
	t.Helper()
	held := lock(t, l.client())
	if held.Token() <= old.Token() {
		t.Errorf("got token %v, want above %v", held.Token(), old.Token())
	}
	var record kv.Record
	record, err := held.KV().Get(within(t), "k")
	if err != nil || string(record.Value) != "before" {
		t.Errorf("got %q, %v, want what the snapshot has", record.Value, err)
	}
	if err := row.write(held.Sequencer(), 200); err != nil {
		t.Errorf("write by the new holder: %v", err)
	}
	if err := row.write(old.Sequencer(), 1); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("write by the old sequencer: got %v, want %v", err, fencing.ErrStale)
	}
	if row.balance() != 200 {
		t.Errorf("got balance %d, want 200", row.balance())
	}
	return held
}
