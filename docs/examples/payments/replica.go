package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/httpfence"
)

// replica is one of several equal processes that make payments.
type replica struct {
	locks  *client.Client
	ledger *http.Client // with httpfence.Transport: the context's sequencer goes along
	url    string       // of the ledger
}

// payment is what a customer asks for.
type payment struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Amount  int    `json:"amount"`
}

var errNoMoney = errors.New("not enough money in the account")

// bookingTime is how long a booking may take.
const bookingTime = time.Minute

// pay books a payment if the account has the money. Both requests to the ledger
// carry the lock's sequencer, because ctx does; no line here mentions it.
func (s *replica) pay(ctx context.Context, p payment) error {
	return s.locks.Do(ctx, guardOf(p.Account), func(ctx context.Context, l *client.Lock) error {
		var account balance
		if err := s.call(ctx, http.MethodGet, "/accounts/"+p.Account, nil, &account); err != nil {
			return err
		}
		if account.Balance < p.Amount {
			return errNoMoney
		}
		if err := l.Err(); err != nil { // saves a request, and proves nothing: see story.go
			return err
		}
		// Once on its way a booking is not called off when the lock is lost, since nobody
		// would know then whether it was made. The ledger says.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookingTime)
		defer cancel()
		return s.call(ctx, http.MethodPost, "/accounts/"+p.Account+"/entries", entry{p.ID, -p.Amount}, nil)
	})
}

// call sends a request to the ledger and reads the answer. A refusal comes back as
// the error that the fence in the ledger's database returned.
func (s *replica) call(ctx context.Context, method, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := s.ledger.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := httpfence.Error(resp); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}

// ServeHTTP makes the payment in the request's body.
func (s *replica) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var p payment
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(w, "no payment: "+err.Error(), http.StatusBadRequest)
		return
	}
	switch err := s.pay(r.Context(), p); {
	case err == nil:
		fmt.Fprintln(w, "paid")
	case errors.Is(err, errNoMoney):
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		httpfence.WriteError(w, err) // the ledger's 409 goes on to the customer
	}
}
