package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"

	"github.com/fencelock/fencelock/fencing/httpfence"
	"github.com/fencelock/fencelock/fencing/sqlfence"
)

// ledger keeps entries; what an account holds is their sum. It knows nothing of
// locks but their names: whoever shows the highest token may read and book.
type ledger struct {
	db    *sql.DB
	fence *sqlfence.Fence
}

// entry is one booking.
type entry struct {
	Payment string `json:"payment"` // unique
	Amount  int    `json:"amount"`
}

type balance struct {
	Balance int `json:"balance"`
}

// guardOf names the lock that guards an account. It is for the ledger to say, and
// not for the request: a token of any other lock is refused.
func guardOf(account string) string { return "accounts/" + account }

// routes takes the sequencer out of each request (428 if there is none) and puts it
// into the handler's context. InHandler: the tokens are compared further down, by
// the fence in the database.
func (l *ledger) routes() http.Handler {
	guard := func(r *http.Request) string { return guardOf(r.PathValue("id")) }
	fenced := func(handle http.HandlerFunc) http.Handler {
		return httpfence.Handler(guard, httpfence.InHandler{}, handle)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /accounts/{id}", fenced(l.getBalance))
	mux.Handle("POST /accounts/{id}/entries", fenced(l.postEntry))
	return mux
}

func (l *ledger) getBalance(w http.ResponseWriter, r *http.Request) {
	sum, err := l.sum(r.Context(), r.PathValue("id"))
	if err != nil {
		httpfence.WriteError(w, err) // 409 for a stale token
		return
	}
	_ = json.NewEncoder(w).Encode(balance{sum}) // the client is gone: nobody to tell
}

func (l *ledger) postEntry(w http.ResponseWriter, r *http.Request) {
	var e entry
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, "no entry: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := l.book(r.Context(), r.PathValue("id"), e); err != nil {
		httpfence.WriteError(w, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// sum reads behind the fence. That raises it: from here on nobody with a lower
// token can book, so what was read stays true until its reader books.
func (l *ledger) sum(ctx context.Context, account string) (sum int, err error) {
	err = l.fence.Do(ctx, l.db, guardOf(account), func(tx *sql.Tx) error {
		const query = "SELECT COALESCE(SUM(amount), 0) FROM entries WHERE account = $1"
		return tx.QueryRowContext(ctx, query, account).Scan(&sum)
	})
	return sum, err
}

// book writes behind the fence: the token is compared in the transaction that
// writes, and nothing can come in between.
func (l *ledger) book(ctx context.Context, account string, e entry) error {
	return l.fence.Do(ctx, l.db, guardOf(account), func(tx *sql.Tx) error {
		const insert = "INSERT INTO entries (account, payment, amount) VALUES ($1, $2, $3)"
		_, err := tx.ExecContext(ctx, insert, account, e.Payment, e.Amount)
		return err
	})
}
