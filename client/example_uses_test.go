package client_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/httpfence"
	"github.com/fencelock/fencelock/fencing/kv"
	"github.com/fencelock/fencelock/fencing/memfence"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// A nightly job that must not run twice at the same time, nor twice a night: where
// it has come to is a record behind the lock's fence.
func Example_job() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "host-1")
	defer c.Close()

	nightly := func(night string) error {
		return c.Do(ctx, "jobs/report", func(ctx context.Context, l *client.Lock) error { // ctx ends when the lock is lost
			last, err := l.KV().Get(ctx, "last")
			if err != nil || string(last.Value) == night {
				return err
			}
			fmt.Println("report of", night)
			_, err = l.KV().Put(ctx, "last", []byte(night)) // refused if another host has overtaken this one
			return err
		})
	}
	for _, night := range []string{"Monday", "Monday", "Tuesday"} {
		if err := nightly(night); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// report of Monday
	// report of Tuesday
}

// A handler locks an account and has another service work on it. The context
// carries the sequencer, the transport sends it, and the service refuses the work
// of whoever has been overtaken.
func Example_httpHandler() {
	endpoints, stop := startMember()
	defer stop()
	c := newClient(endpoints, "front")
	defer c.Close()

	account := func(r *http.Request) string { return "accounts/" + r.PathValue("id") }
	ledger := http.NewServeMux()
	ledger.Handle("POST /accounts/{id}", httpfence.Handler(account, memfence.New(memfence.Config{}),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "booked") })))
	service := httptest.NewServer(ledger)
	defer service.Close()
	fenced := &http.Client{Transport: httpfence.Transport{Base: service.Client().Transport}}

	book := func(ctx context.Context, path string) (string, error) {
		req := check(http.NewRequestWithContext(ctx, http.MethodPost, service.URL+path, nil))
		resp, err := fenced.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		if err := httpfence.Error(resp); err != nil {
			return "", err // *fencing.StaleError, as from a fence of one's own
		}
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}
	front := http.NewServeMux()
	front.HandleFunc("POST /transfer/{id}", func(w http.ResponseWriter, r *http.Request) {
		err := c.Do(r.Context(), account(r), func(ctx context.Context, _ *client.Lock) error {
			text, err := book(ctx, "/"+account(r))
			fmt.Fprint(w, text)
			return err
		})
		if err != nil {
			httpfence.WriteError(w, err)
		}
	})
	answer := httptest.NewRecorder()
	front.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/transfer/42", nil))
	fmt.Println(answer.Code, answer.Body)
	_, err := book(context.Background(), "/accounts/42")
	fmt.Println("without the lock:", errors.Is(err, client.ErrMissing))
	// Output:
	// 200 booked
	// without the lock: true
}

// A leader works until it loses the lead, and then campaigns again.
func Example_leader() {
	endpoints, stop := startMember()
	defer stop()
	ctx, retire := context.WithCancel(context.Background())
	defer retire()
	c, operator := newClient(endpoints, "scheduler@host-1"), newClient(endpoints, "operator")
	defer c.Close()
	defer operator.Close()

	lead := func(l *client.Lock, term int) {
		work, end := l.Bind(ctx)
		defer end()
		if _, err := l.KV().Put(work, "term", fmt.Append(nil, term)); err != nil {
			log.Print(err) // overtaken: campaign again
			return
		}
		fmt.Println("leads, term", term)
		if term == 2 {
			retire()
		} else if err := operator.Break(ctx, "scheduler", l.Token()); err != nil { // takes the lead away
			log.Fatal(err)
		}
		<-work.Done()
		fmt.Println("lost:", errors.Is(context.Cause(work), client.ErrLost))
	}
	for term := 1; ctx.Err() == nil; term++ {
		l, err := c.Campaign(ctx, "scheduler", []byte("10.0.0.1:8080"))
		if err != nil {
			break // ctx has ended, or nothing can be reached
		}
		lead(l, term)
		_ = l.Unlock(ctx) // ErrLost, if that is why the term is over
	}
	// Output:
	// leads, term 1
	// lost: true
	// leads, term 2
	// lost: false
}

// A batch moves money between accounts, under the locks of both: each account's
// record is written behind its own fence.
func Example_batch() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "batch")
	defer c.Close()

	add := func(account *kv.KV, amount int) (sum int, err error) {
		record, err := account.Get(ctx, "balance")
		if err != nil {
			return 0, err
		}
		_, _ = fmt.Sscan(string(record.Value), &sum) // an account that is not there has nothing
		sum += amount
		_, err = account.Put(ctx, "balance", fmt.Append(nil, sum))
		return sum, err
	}
	move := func(from, to string, amount int) {
		l := check(c.LockAll(ctx, from, to)) // both or none; the order does not matter
		check(add(l.KV(from), -amount))
		check(add(l.KV(to), amount))
		check(0, l.Unlock(ctx))
	}
	var batch sync.WaitGroup
	for range 5 {
		batch.Go(func() { move("accounts/1", "accounts/2", 10) })
		batch.Go(func() { move("accounts/2", "accounts/1", 1) })
	}
	batch.Wait()
	l := check(c.LockAll(ctx, "accounts/1", "accounts/2"))
	fmt.Println(check(add(l.KV("accounts/1"), 0)), check(add(l.KV("accounts/2"), 0)))
	// Output: -45 45
}

// Prices are read all the time and changed now and then: readers share the lock,
// and hold it for as long as what they have read must stay true.
func Example_readMostly() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "shop")
	defer c.Close()

	price := func() string {
		l := check(c.LockShared(ctx, "prices"))
		defer l.Unlock(ctx)
		return string(check(l.KV().Get(ctx, "apple")).Value)
	}
	change := func(to string) {
		check(0, c.Do(ctx, "prices", func(ctx context.Context, l *client.Lock) error { // waits for the readers
			_, err := l.KV().Put(ctx, "apple", []byte(to))
			return err
		}))
	}
	change("3")
	var customers sync.WaitGroup
	for range 4 {
		customers.Go(func() {
			if got := price(); got != "3" {
				log.Fatal("price ", got)
			}
		})
	}
	customers.Wait()
	change("4")
	fmt.Println(price())
	// Output: 4
}

// An account in a database, updated under a lock: the transaction begins with the
// fence, which takes the sequencer from the context.
func Example_sql() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "bank")
	defer c.Close()
	db := check(sql.Open("sqlite", ":memory:"))
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	check(db.Exec("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER); INSERT INTO accounts VALUES (42, 100)"))
	fence := check(sqlfence.New(sqlfence.Config{Dialect: sqlfence.SQLite}))
	check(0, fence.CreateTable(ctx, db))

	withdraw := func(ctx context.Context, amount int) error {
		return fence.Do(ctx, db, "accounts/42", func(tx *sql.Tx) error {
			_, err := tx.Exec("UPDATE accounts SET balance = balance - ? WHERE id = 42", amount)
			return err
		})
	}
	paused := check(c.Lock(ctx, "accounts/42"))
	// Carries its sequencer. A process that is paused does not see that its lock ends.
	late := context.WithoutCancel(paused.Context())
	check(0, c.Break(ctx, "accounts/42", paused.Token()))
	check(0, c.Do(ctx, "accounts/42", func(ctx context.Context, _ *client.Lock) error { return withdraw(ctx, 10) }))

	fmt.Println("stale:", errors.Is(withdraw(late, 50), client.ErrStale))
	var balance int
	check(0, db.QueryRow("SELECT balance FROM accounts WHERE id = 42").Scan(&balance))
	fmt.Println("balance:", balance)
	// Output:
	// stale: true
	// balance: 90
}
