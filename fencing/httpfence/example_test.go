package httpfence_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
	"github.com/fencelock/fencelock/fencing/httpfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// A service in memory: the fence is held while the handler runs. A client whose
// token was overtaken gets the error that a local fence would have returned.
func Example() {
	balance := "100"
	account := func(r *http.Request) string { return "accounts/" + r.PathValue("id") }
	mux := http.NewServeMux()
	mux.Handle("/accounts/{id}", httpfence.Handler(account, memfence.New(memfence.Config{}),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				balance = r.FormValue("balance")
			}
			fmt.Fprint(w, balance)
		})))
	server := httptest.NewServer(mux)
	defer server.Close()

	client := &http.Client{Transport: httpfence.Transport{}}
	send := func(ctx context.Context, method, query string) error {
		req, err := http.NewRequestWithContext(ctx, method, server.URL+"/accounts/42"+query, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return httpfence.Error(resp)
	}
	// With a client, Lock.Bind returns contexts like these.
	a := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "accounts/42", Token: 33})
	b := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "accounts/42", Token: 34})
	fmt.Println("B reads:", send(b, http.MethodGet, ""))
	err := send(a, http.MethodPut, "?balance=110")
	var stale *fencing.StaleError
	if errors.As(err, &stale) {
		fmt.Printf("A is stale: %v < %v\n", stale.Token, stale.Highest)
	}
	fmt.Println(balance)
	// Output:
	// B reads: <nil>
	// A is stale: 33 < 34
	// 100
}

// A service with a fence of its own: the handler asks it, in the same step as it
// writes, and has the refusal written.
func ExampleInHandler() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	report, err := filefence.New(filefence.Config{Path: filepath.Join(dir, "report"), Guard: "report"})
	if err != nil {
		log.Fatal(err)
	}
	handler := httpfence.Handler(func(*http.Request) string { return "report" }, httpfence.InHandler{},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seq, err := fencing.ForGuard(r.Context(), "report")
			if err == nil {
				err = report.Append(r.Context(), seq, []byte("line\n"))
			}
			if err != nil {
				httpfence.WriteError(w, err)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}))
	for _, token := range []string{"report#34", "report#33", ""} {
		r := httptest.NewRequest(http.MethodPost, "/report", strings.NewReader(""))
		r.Header.Set(httpfence.Header, token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 204
	// 409
	// 428
}

// One client for a service whose requests are guarded by several locks.
func ExampleTransport() {
	client := &http.Client{Transport: httpfence.Transport{
		Guard: func(r *http.Request) string {
			return strings.TrimPrefix(r.URL.Path, "/") // "/accounts/42" is guarded by the lock "accounts/42"
		},
	}}
	ctx := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "accounts/42", Token: 33})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://ledger.invalid/accounts/43", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Do(req)
	fmt.Println(errors.Is(err, fencing.ErrWrongGuard))
	// Output: true
}
