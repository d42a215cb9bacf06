package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/httpfence"
)

const (
	opening   = 100
	askedOfA  = 80 // each is covered by the account,
	askedOfB  = 60 // both together are not
	wanted    = opening - askedOfB
	storyTime = 2 * time.Minute
)

// story is one run. The account is new in each, so that a ledger can be used again.
type story struct {
	system
	account string
	a, b    *service
}

// play tells the story, and returns an error if it does not end as it must.
func play(ctx context.Context, postgres string, t *timeline) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, storyTime, fmt.Errorf("the story takes longer than %v", storyTime))
	defer cancel()
	s := &story{system: system{timeline: t}, account: strconv.FormatInt(time.Now().UnixNano(), 36)}
	defer s.close()
	if err := s.start(ctx, postgres); err != nil {
		return err
	}
	if s.a, err = s.startReplica("A", true); err != nil {
		return err
	}
	if s.b, err = s.startReplica("B", false); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.open, s.overtake, s.again, s.forge, s.end} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// open books the opening balance. The ledger's own fence asks for a lock here too.
func (s *story) open(ctx context.Context) error {
	return s.locks.Do(ctx, guardOf(s.account), func(ctx context.Context, _ *client.Lock) error {
		s.timeline.event("ledger", "account %s is opened with %d", s.account, opening)
		return s.ledger.book(ctx, s.account, entry{s.account + "-opening", opening})
	})
}

// overtake is the heart: A is stopped, B takes over, A goes on.
func (s *story) overtake(ctx context.Context) error {
	late := make(chan error, 1)
	go func() { late <- s.pay(ctx, s.a, askedOfA, http.StatusConflict) }()
	if err := s.a.process.awaitStop(ctx); err != nil {
		return err
	}
	s.timeline.event("operator", "replica A is stopped (SIGSTOP): its booking is about to leave, and nothing renews its lock")
	paid := s.pay(ctx, s.b, askedOfB, http.StatusOK) // waits until A's lock has expired
	s.timeline.event("operator", "replica A goes on (SIGCONT)")
	if err := s.a.process.wake(); err != nil {
		return errors.Join(paid, err)
	}
	return errors.Join(paid, <-late)
}

// again: the customer repeats the payment, and A works from a fresh read.
func (s *story) again(ctx context.Context) error {
	return s.pay(ctx, s.a, askedOfA, http.StatusUnprocessableEntity)
}

// forge: somebody makes up a token, higher than all.
func (s *story) forge(ctx context.Context) error {
	s.timeline.event("forger", "books with a token that nobody was given")
	forged := fencing.Sequencer{Lock: guardOf(s.account), Token: 1 << 60}
	forger := &replica{url: s.url, ledger: &http.Client{Transport: httpfence.Transport{}}}
	err := forger.call(fencing.NewContext(ctx, forged), http.MethodPost, "/accounts/"+s.account+"/entries", entry{"forged", -1}, nil)
	if !errors.Is(err, fencing.ErrNotIssued) {
		return fmt.Errorf("the forged booking: got %v, want %v", err, fencing.ErrNotIssued)
	}
	return nil
}

// end adds up.
func (s *story) end(ctx context.Context) error {
	sum, err := s.sum(ctx, s.account)
	if err != nil {
		return err
	}
	s.timeline.event("ledger", "the account holds %d: %d − %d", sum, opening, askedOfB)
	if sum != wanted {
		return fmt.Errorf("the account holds %d, want %d", sum, wanted)
	}
	return nil
}

// pay asks a replica for a payment, and returns an error if the answer is not the
// one wanted.
func (s *story) pay(ctx context.Context, from *service, amount, status int) error {
	s.timeline.event(from.name, "is asked to pay %d", amount)
	p := payment{ID: fmt.Sprintf("%s-%d", s.account, time.Now().UnixNano()), Account: s.account, Amount: amount}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, from.url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", from.name, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", from.name, err)
	}
	s.timeline.event(from.name, "answers %d: %s", resp.StatusCode, strings.TrimSpace(string(answer)))
	if resp.StatusCode != status {
		return fmt.Errorf("%s: got status %d, want %d", from.name, resp.StatusCode, status)
	}
	return nil
}
