package sqlfence_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// A (33) adds 1 to a number and commits, between B's (34) read of it and B's write,
// which adds 10. Read before Advance, and the database decides whether A's update is lost.
func TestReadingBeforeAdvance(t *testing.T) {
	for name, c := range map[string]struct {
		dialect   sqlfence.Dialect
		isolation sql.IsolationLevel
		lost      bool // else B's transaction fails
	}{
		"mysql, repeatable read":      {sqlfence.MySQL, sql.LevelRepeatableRead, true},
		"mysql, read committed":       {sqlfence.MySQL, sql.LevelReadCommitted, true},
		"postgresql, read committed":  {sqlfence.PostgreSQL, sql.LevelReadCommitted, true},
		"postgresql, repeatable read": {sqlfence.PostgreSQL, sql.LevelRepeatableRead, false},
		"postgresql, serializable":    {sqlfence.PostgreSQL, sql.LevelSerializable, false},
		"sqlite":                      {sqlfence.SQLite, sql.LevelDefault, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newCounter(t, c.dialect)
			err := n.transaction(c.isolation, func(tx *sql.Tx) error {
				seen := n.read(tx)
				n.add(33)
				if err := n.fence.Advance(t.Context(), tx, guard, fencing.Sequencer{Lock: guard, Token: 34}); err != nil {
					return err
				}
				return n.write(tx, seen+10)
			})
			want := 1
			if c.lost {
				want = 10
			}
			if got := n.now(); got != want || (err == nil) != c.lost {
				t.Errorf("got %d, and %v for B's transaction; want %d, and A's update lost: %v", got, err, want, c.lost)
			}
		})
	}
}

// In MySQL's REPEATABLE READ even reading after Advance is no use, if anything was
// read before: the snapshot is older than the fence.
func TestSnapshotOfMySQLIsOlderThanTheFence(t *testing.T) {
	n := newCounter(t, sqlfence.MySQL)
	err := n.transaction(sql.LevelRepeatableRead, func(tx *sql.Tx) error {
		var one int
		if err := tx.QueryRow("SELECT COUNT(*) FROM records").Scan(&one); err != nil {
			return err
		}
		n.add(33)
		if err := n.fence.Advance(t.Context(), tx, guard, fencing.Sequencer{Lock: guard, Token: 34}); err != nil {
			return err
		}
		return n.write(tx, n.read(tx)+10)
	})
	if got := n.now(); err != nil || got != 10 {
		t.Errorf("got %d, %v, want 10: the package comment says that A's update is lost", got, err)
	}
}

// First things first: no update is lost, at any isolation.
func TestAdvanceFirst(t *testing.T) {
	for _, isolation := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(isolation.String(), func(t *testing.T) {
			for _, dialect := range []sqlfence.Dialect{sqlfence.PostgreSQL, sqlfence.MySQL} {
				n := newCounter(t, dialect)
				n.fence = n.db.fence(t, sqlfence.Config{Isolation: isolation})
				var wait sync.WaitGroup
				for token := range fencing.Token(2) {
					for range 20 {
						wait.Go(func() { n.add(33 + token) })
					}
				}
				wait.Wait()
				if got := n.now(); got != n.acknowledged {
					t.Errorf("%s: the number is %d after %d acknowledged additions", dialect, got, n.acknowledged)
				}
			}
		})
	}
}

// counter is a number behind a fence.
type counter struct {
	*testing.T
	db           *database
	fence        *sqlfence.Fence
	mu           sync.Mutex
	acknowledged int
}

func newCounter(t *testing.T, dialect sqlfence.Dialect) *counter {
	t.Helper()
	db := open(t, dialect)
	db.exec(t, "CREATE TABLE counter (n INT)", "INSERT INTO counter VALUES (0)")
	return &counter{T: t, db: db, fence: db.fence(t, sqlfence.Config{})}
}

func (n *counter) read(tx *sql.Tx) int {
	var number int
	if err := tx.QueryRow("SELECT n FROM counter").Scan(&number); err != nil {
		n.Error(err)
	}
	return number
}

func (n *counter) write(tx *sql.Tx, number int) error {
	_, err := tx.Exec(n.db.sql("UPDATE counter SET n = ?"), number)
	return err
}

// add adds 1 under token; being refused is fine, whatever the reason.
func (n *counter) add(token fencing.Token) {
	err := n.fence.Do(as(n, token), n.db, guard, func(tx *sql.Tx) error { return n.write(tx, n.read(tx)+1) })
	if err == nil {
		n.mu.Lock()
		n.acknowledged++
		n.mu.Unlock()
	} else if errors.Is(err, fencing.ErrUncertain) {
		n.Error(err)
	}
}

func (n *counter) now() int {
	var number int
	if err := n.db.QueryRow("SELECT n FROM counter").Scan(&number); err != nil {
		n.Error(err)
	}
	return number
}

func (n *counter) transaction(isolation sql.IsolationLevel, fn func(tx *sql.Tx) error) error {
	tx, err := n.db.BeginTx(context.Background(), &sql.TxOptions{Isolation: isolation})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Several holders of a guard that is new, the first of whom rolls back: MySQL
// answers some of the others with a deadlock. Nobody is to hear of it.
func TestNewGuardWhoseFirstHolderRollsBack(t *testing.T) {
	each(t, func(t *testing.T, db *database) {
		f := db.fence(t, sqlfence.Config{})
		for round := range 20 {
			name := string(rune('a' + round))
			ctx := fencing.NewContext(t.Context(), fencing.Sequencer{Lock: name, Token: 33})
			others := make(chan error, 4)
			_ = f.Do(ctx, db, name, func(*sql.Tx) error {
				for range cap(others) {
					go func() { others <- f.Do(ctx, db, name, func(*sql.Tx) error { return nil }) }()
				}
				db.awaitWaiters(t, cap(others))
				return errors.New("no")
			})
			for range cap(others) {
				if err := <-others; err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			}
		}
	})
}
