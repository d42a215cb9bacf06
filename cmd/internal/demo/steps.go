package demo

import (
	"context"
	"fmt"

	"github.com/fencelock/fencelock/fencing/kv"
)

func (r *run) startA(ctx context.Context) (err error) {
	r.result.Tokens.A, err = r.takeLock(ctx, r.a, "takes the lock")
	return err
}

// stopA has A begin its write, and returns when A is stopped in it.
func (r *run) stopA(ctx context.Context) error {
	a := r.result.Tokens.A
	if err := r.a.tell(ctx, order{Do: doWrite, Add: addA, Pause: true}); err != nil {
		return err
	}
	got, err := r.a.hear(ctx, leaving)
	if err != nil {
		return err
	}
	r.timeline.event(departs, "A", a, "is about to write %d; a last look at the lock: still held", got.Balance)
	if err := r.a.process.awaitStop(ctx); err != nil {
		return err
	}
	r.timeline.event(stops, "A", a, "STOPPED by SIGSTOP (process %d), %s", r.a.process.pid(), r.departure())
	return nil
}

// startB waits for the lock as anybody does, until A's lease has ended.
func (r *run) startB(ctx context.Context) (err error) {
	r.timeline.event(asks, "B", 0, "asks for the lock, and waits: A's lease is still alive")
	r.result.Tokens.B, err = r.takeLock(ctx, r.b, "gets the lock: A's lease has ended")
	return err
}

func (r *run) writeB(ctx context.Context) error {
	got, err := r.b.ask(ctx, order{Do: doWrite, Add: addB}, written)
	if err != nil {
		return err
	}
	r.acknowledge("B", addB, r.result.Tokens.B, got.Balance)
	return nil
}

// wakeA lets A go on with its write, and hears what the account answered.
func (r *run) wakeA(ctx context.Context) error {
	a := r.result.Tokens.A
	if err := r.a.process.wake(); err != nil {
		return r.a.silent(ctx, fmt.Errorf("send SIGCONT: %w", err))
	}
	r.timeline.event(wakes, "A", a, "WOKEN by SIGCONT; its write goes on from there")
	got, err := r.a.hear(ctx, written, refused)
	if err != nil {
		return err
	}
	r.result.StaleWrite, r.result.Highest = Accepted, got.Highest
	if got.Event == refused {
		r.result.StaleWrite = Refused
		r.timeline.event(isRefused, "A", a, "writes %d: REFUSED by the store: stale, the fence stands at %v", got.Balance, got.Highest)
	} else {
		r.acknowledge("A", addA, a, got.Balance)
	}
	if got.Lost {
		r.timeline.event(learns, "A", a, "looks at the lock again: lost")
	}
	return nil
}

// redoA does what a refusal asks for: A takes the lock again, under a new token,
// and starts from a fresh read.
func (r *run) redoA(ctx context.Context) error {
	if r.result.StaleWrite != Refused {
		return nil
	}
	if _, err := r.b.ask(ctx, order{Do: doUnlock}, unlocked); err != nil {
		return err
	}
	r.timeline.event(returns, "B", r.result.Tokens.B, "gives the lock back")
	token, err := r.takeLock(ctx, r.a, "takes the lock again, under a new token")
	if err != nil {
		return err
	}
	got, err := r.a.ask(ctx, order{Do: doWrite, Add: addA}, written)
	if err != nil {
		return err
	}
	r.acknowledge("A", addA, token, got.Balance)
	return nil
}

// settle compares what the account holds with what was acknowledged.
func (r *run) settle(ctx context.Context) (err error) {
	if r.result.Balance, err = r.balance(ctx); err != nil {
		return err
	}
	if r.result.Missing, err = r.ledger.missing(r.result.Balance); err != nil {
		return err
	}
	r.result.Due, r.result.UpdateLost = r.ledger.due(), len(r.result.Missing) > 0
	r.result.sum = r.ledger.sum()
	r.timeline.verdict(r.result)
	return nil
}

// balance looks at the account from outside.
func (r *run) balance(ctx context.Context) (int, error) {
	if !r.fenced {
		return readFile(r.file())
	}
	record, err := kv.Peek(ctx, r.client.Etcd(), r.lock(), balanceKey, kv.Config{})
	if err != nil {
		return 0, err
	}
	return parse(record.Value)
}
