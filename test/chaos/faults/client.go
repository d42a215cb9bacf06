//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/world"
)

func clientKinds() []Kind {
	return grouped("client", []string{clients}, nil,
		Kind{Name: "kill -9 of a client", Cost: nothing(ttl), Do: killClients(oneClient)},
		Kind{Name: "kill -9 of two clients", Cost: nothing(ttl), Do: killClients(twoClients)},
		Kind{Name: "kill -9 of all clients", Cost: nothing(ttl), Do: killClients(everyClient)},
		Kind{Name: "kill -9 of a holder", Cost: nothing(ttl), Do: killHolder},
		Kind{Name: "SIGTERM and restart of a client", Cost: nothing(ttl), Do: endClient},
		Kind{Name: "SIGSTOP of a client", Cost: pauses(ttl), Do: stopClients(oneClient)},
		Kind{Name: "SIGSTOP of a holder", Cost: pauses(ttl), Do: stopHolder},
		Kind{Name: "SIGSTOP of two clients", Cost: pauses(ttl), Do: stopClients(twoClients)},
		Kind{Name: "SIGSTOP of all clients", Cost: pauses(ttl), Do: stopClients(everyClient)},
		Kind{Name: "a client stutters", Cost: pauses(ttl), Do: stutter},
		Kind{Name: BetweenReadAndWrite, Cost: pauses(ttl), Do: standStill},
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
		if stopped = r.owner(c); stopped == nil {
			return errors.New("its owner is none of ours")
		}
		r.victims(stopped.Name)
		return stopped.Pause()
	})
	if stopped == nil {
		return err
	}
	return errors.Join(err, wait(ctx, r.longer()+r.For), stopped.Resume())
}

// BetweenReadAndWrite is the kind that the control loses most by.
const BetweenReadAndWrite = "a client stands still between its reads and its writes"

// standStill stops a client that holds locks, has read what they guard, and has not
// written yet; so does a garbage collector, or a host, that strikes at the worst moment.
// Others get its locks and write, before it wakes.
func standStill(ctx context.Context, r *Run) error {
	c := r.pickClients(oneClient)[0]
	err := c.StandStill(ctx)
	return errors.Join(err, wait(ctx, r.longer()+r.For), c.Resume())
}

// killHolder kills a client that holds a lock which another waits for. It stands still
// while one looks whether that is so; of the others, few hold anything when they die.
func killHolder(ctx context.Context, r *Run) error {
	var killed *world.Client
	err := r.strike(ctx, contended, func(ctx context.Context, c claim) error {
		client := r.owner(c)
		if client == nil {
			return errors.New("its owner is none of ours")
		}
		if err := client.Pause(); err != nil {
			return err
		}
		r.Fault.Begin = history.Now()
		now, err := r.World.Etcd().Get(ctx, string(c.Key))
		if err == nil && len(now.Kvs) == 0 {
			err = errors.New("it has been given back")
		}
		if err != nil {
			return errors.Join(err, client.Resume())
		}
		killed = client
		r.victims(client.Name)
		return client.Kill()
	})
	if killed == nil {
		return err
	}
	return errors.Join(err, wait(ctx, r.longer()+anElection), killed.Start())
}

// owner is the client whose claim it is.
func (r *Run) owner(c claim) *world.Client {
	for _, client := range r.World.Clients {
		if strings.Contains(string(c.Value), fmt.Sprintf("\"owner\":\"%s.", client.Name)) { // and which of its lives
			return client
		}
	}
	return nil
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
	r.Note("stops: %d", n)
	return err
}
