//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fencelock/fencelock/test/chaos/world"
)

func clientKinds() []Kind {
	return grouped("client", []string{clients}, nil,
		Kind{Name: "kill -9 of a client", Cost: nothing(ttl), Do: killClients(oneClient)},
		Kind{Name: "kill -9 of two clients", Cost: nothing(ttl), Do: killClients(twoClients)},
		Kind{Name: "kill -9 of all clients", Cost: nothing(ttl), Do: killClients(everyClient)},
		Kind{Name: "SIGTERM and restart of a client", Cost: nothing(ttl), Do: endClient},
		Kind{Name: "SIGSTOP of a client", Cost: pauses(ttl), Do: stopClients(oneClient)},
		Kind{Name: "SIGSTOP of a holder", Cost: pauses(ttl), Do: stopHolder},
		Kind{Name: "SIGSTOP of two clients", Cost: pauses(ttl), Do: stopClients(twoClients)},
		Kind{Name: "SIGSTOP of all clients", Cost: pauses(ttl), Do: stopClients(everyClient)},
		Kind{Name: "a client stutters", Cost: pauses(ttl), Do: stutter},
	)
}

// killClients takes clients away by kill -9, and starts new lives when others have
// got what was theirs.
func killClients(choose pickClients) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims := r.pickClients(choose)
		err := each(victims, (*world.Client).Kill)
		return errors.Join(err, r.holdLonger(ctx, r.longer()), each(victims, (*world.Client).Start))
	}
}

// endClient lets a client give everything back.
func endClient(ctx context.Context, r *Run) error {
	c := r.pickClients(oneClient)[0]
	if err := c.Finish(ctx); err != nil {
		return errors.Join(err, c.Kill(), c.Start())
	}
	return c.Start()
}

// stopClients lets clients stand still for longer than their sessions live.
func stopClients(choose pickClients) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims := r.pickClients(choose)
		err := each(victims, (*world.Client).Pause)
		return errors.Join(err, wait(ctx, r.longer()+r.For), each(victims, (*world.Client).Resume))
	}
}

// stopHolder stops a client that holds a lock, and has perhaps read what it guards,
// and not written yet.
func stopHolder(ctx context.Context, r *Run) error {
	var stopped *world.Client
	err := r.strike(ctx, first, func(_ context.Context, c claim) error {
		for _, client := range r.World.Clients {
			if strings.Contains(string(c.Value), fmt.Sprintf("\"owner\":\"%s.", client.Name)) { // and which of its lives
				stopped = client
				r.victims(client.Name)
				return client.Pause()
			}
		}
		return errors.New("its owner is none of ours")
	})
	if stopped == nil {
		return err
	}
	return errors.Join(err, wait(ctx, r.longer()+r.For), stopped.Resume())
}

// stutter stops a client again and again, for times around its session's: some of
// its renewals come in time, some do not.
func stutter(ctx context.Context, r *Run) error {
	c := r.pickClients(oneClient)[0]
	n := 0
	err := r.repeat(ctx, 100*time.Millisecond, func() error {
		n++
		err := c.Pause()
		return errors.Join(err, wait(ctx, r.between(200*time.Millisecond, ttl)), c.Resume())
	})
	r.Note("stopped %d times", n)
	return err
}
