package kv_test

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

func TestBareSequencerOfTheHolderWorks(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	s.hold() // somebody waits
	mustPut(t, a.bare(), "k", "1")
	if got, want := s.fence(), keys.Claimed(a.token); got != want {
		t.Errorf("fence is %s, want %s", got, want)
	}
}

// A foreign client's claim says nothing about itself and is exclusive.
func TestBareSequencerOfAForeignClaimWorks(t *testing.T) {
	s := newStore(t, 1)
	resp, err := s.etcd.Put(t.Context(), s.space.Queue(guard)+"694d", "")
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s.bare(fencing.Token(resp.Header.Revision)), "k", "1")
}

// Tokens that must not work, and must not move the fence: a wrong huge number, or
// the token of somebody who only waits, would lock the holder out.
func TestBareSequencersThatAreRefused(t *testing.T) {
	s := newStore(t, 1)
	holder := s.hold()
	waiter := s.hold()
	cancelled := s.hold()
	cancelled.end()
	last := s.hold() // so that the tokens above are history, and not the latest revision

	for name, c := range map[string]struct {
		token fencing.Token
		want  error
	}{
		"a waiter that is alive":          {waiter.token, fencing.ErrNotHeld},
		"a waiter that was cancelled":     {cancelled.token, fencing.ErrNotHeld},
		"a revision that was no claim":    {cancelled.token + 1, fencing.ErrNotIssued},
		"a revision that is yet to come":  {last.token + 1000, fencing.ErrNotIssued},
		"the highest number there is":     {1<<63 - 1, fencing.ErrNotIssued},
		"a revision before the first one": {1, fencing.ErrNotIssued},
	} {
		t.Run(name, func(t *testing.T) {
			for operation, operate := range operations() {
				if err := operate(t.Context(), s.bare(c.token)); !errors.Is(err, c.want) {
					t.Errorf("%s: got %v, want %v", operation, err, c.want)
				}
			}
			if err := kv.Check(t.Context(), s.etcd, fencing.Sequencer{Lock: guard, Token: c.token}, kv.Config{}); !errors.Is(err, c.want) {
				t.Errorf("check: got %v, want %v", err, c.want)
			}
			if got := s.fence(); got != "" {
				t.Errorf("the fence was moved to %s", got)
			}
		})
	}
	mustPut(t, holder.live(s.etcd), "k", "1")
}

// A revision at which another lock was claimed is no token of this one.
func TestTokenOfAnotherLockIsNotIssued(t *testing.T) {
	s := newStore(t, 1)
	resp, err := s.etcd.Put(t.Context(), s.space.Claim("accounts/43", 1, 0), "")
	if err != nil {
		t.Fatal(err)
	}
	s.hold()
	if _, err := s.bare(fencing.Token(resp.Header.Revision)).Get(t.Context(), "k"); !errors.Is(err, fencing.ErrNotIssued) {
		t.Errorf("got %v, want ErrNotIssued", err)
	}
}

func TestSharedClaimHasNoSequencer(t *testing.T) {
	s := newStore(t, 1)
	shared := s.enqueue(keys.SharedMode)
	if _, err := shared.bare().Get(t.Context(), "k"); !errors.Is(err, fencing.ErrNotIssued) {
		t.Errorf("alive: got %v, want ErrNotIssued", err)
	}
	shared.end()
	s.hold()
	if _, err := shared.bare().Get(t.Context(), "k"); !errors.Is(err, fencing.ErrNotIssued) {
		t.Errorf("ended: got %v, want ErrNotIssued", err)
	}
}

// When history is gone, nobody can tell a token that was from one that never was.
func TestCompactedTokenIsNotHeld(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	a.end()
	b := s.hold()
	if _, err := s.etcd.Compact(t.Context(), int64(b.token), clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	for _, token := range []fencing.Token{a.token, 1} {
		if _, err := s.bare(token).Get(t.Context(), "k"); !errors.Is(err, fencing.ErrNotHeld) {
			t.Errorf("token %v: got %v, want ErrNotHeld", token, err)
		}
	}
}

// With the fence already at its token a bare handle goes on although the claim is
// found behind another, until somebody newer claims the fence.
func TestBareHandleGoesOnUntilSomebodyNewerClaims(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	bare := a.bare()
	mustPut(t, bare, "k", "1")
	b := s.hold()
	mustPut(t, bare, "k", "2")
	a.end()
	if _, err := bare.Put(t.Context(), "k", []byte("3")); !errors.Is(err, fencing.ErrNotHeld) {
		t.Errorf("after its claim ended: got %v, want ErrNotHeld", err)
	}
	mustPut(t, b.bare(), "k", "4")
	_, err := bare.Put(t.Context(), "k", []byte("5"))
	wantStale(t, err, a.token, b.token)
}

func TestCheck(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	check := func(token fencing.Token) error {
		return kv.Check(t.Context(), s.etcd, fencing.Sequencer{Lock: guard, Token: token}, kv.Config{})
	}
	if err := check(a.token); err != nil {
		t.Errorf("the holder's: %v", err)
	}
	a.end()
	b := s.hold()
	if err := check(a.token); !errors.Is(err, fencing.ErrNotHeld) {
		t.Errorf("the one before: got %v, want ErrNotHeld", err)
	}
	if err := b.live(s.etcd).Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantStale(t, check(a.token), a.token, b.token)
	if got, want := s.fence(), keys.Claimed(b.token); got != want {
		t.Errorf("checking moved the fence to %s, want %s", got, want)
	}
}

// What is wrong with the words themselves is found without a request.
func TestNewRefusesBadInput(t *testing.T) {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	for name, c := range map[string]struct {
		seq  fencing.Sequencer
		cfg  kv.Config
		want error
	}{
		"no sequencer":    {fencing.Sequencer{}, kv.Config{}, fencing.ErrMissing},
		"no lock":         {fencing.Sequencer{Token: 1}, kv.Config{}, fencing.ErrInvalidName},
		"a bad lock":      {fencing.Sequencer{Lock: "a//b", Token: 1}, kv.Config{}, fencing.ErrInvalidName},
		"token 0":         {fencing.Sequencer{Lock: "a"}, kv.Config{}, fencing.ErrMalformed},
		"token -1":        {fencing.Sequencer{Lock: "a", Token: -1}, kv.Config{}, fencing.ErrMalformed},
		"a bad namespace": {fencing.Sequencer{Lock: "a", Token: 1}, kv.Config{Namespace: "//"}, fencing.ErrInvalidName},
	} {
		if _, err := kv.New(etcd, c.seq, c.cfg); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	handle, err := kv.New(etcd, fencing.Sequencer{Lock: "a", Token: 1}, kv.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := handle.Put(t.Context(), "", nil); !errors.Is(err, fencing.ErrInvalidName) {
		t.Errorf("an empty key: got %v, want ErrInvalidName", err)
	}
}
