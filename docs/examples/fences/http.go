package fences

import (
	"context"
	"net/http"
	"net/http/httptest"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/httpfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

func overHTTP(ctx context.Context, locks *client.Client) error {
	guard := func(r *http.Request) string { return "accounts/" + r.PathValue("id") }
	fence := memfence.New(memfence.Config{Verify: locks.Check})
	mux := http.NewServeMux()
	mux.Handle("PUT /accounts/{id}", httpfence.Handler(guard, fence,
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })))
	server := httptest.NewServer(mux)
	defer server.Close()

	sender := &http.Client{Transport: httpfence.Transport{}} // sends the context's sequencer along
	put := func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL+"/accounts/42", nil)
		if err != nil {
			return err
		}
		resp, err := sender.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return httpfence.Error(resp)
	}
	return overtaken(ctx, locks, "accounts/42", put) // 409, a *fencing.StaleError
}
