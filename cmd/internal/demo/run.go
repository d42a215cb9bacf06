package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

const (
	// workerTTL is the least that members with etcd's default election time-out
	// grant (1.5 times that, in whole seconds).
	workerTTL = 2 * time.Second

	// stepLimit is how long a step may take. The longest one, B's wait for the
	// lock, takes about workerTTL; the rest is for a loaded machine.
	stepLimit = 30 * time.Second

	// requestLimit bounds the workers' requests. A's late write is under way
	// while others take steps.
	requestLimit = 3 * stepLimit
)

// run is one scene being played.
type run struct {
	scene
	timeline *timeline
	client   *client.Client // the demo's own
	worker   []string       // command line
	dir      string

	a, b   *actor
	result Result
	ledger ledger
}

// play carries out the script.
func (r *run) play(ctx context.Context) (Result, error) {
	for _, s := range r.script() {
		if err := within(ctx, stepLimit, func(ctx context.Context) error { return s.do(r, ctx) }); err != nil {
			return r.result, errors.Join(fmt.Errorf("%s: %s: %w", r.scene, s.what, err), r.end())
		}
	}
	return r.result, r.end()
}

// within gives f a part of ctx's time.
func within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it takes longer than %v", limit))
	defer cancel()
	return f(ctx)
}

// end kills the workers.
func (r *run) end() error {
	var errs []error
	for _, a := range []*actor{r.a, r.b} {
		if a != nil {
			errs = append(errs, a.end())
		}
	}
	return errors.Join(errs...)
}

// open puts the opening balance into the account and starts the workers.
func (r *run) open(ctx context.Context) (err error) {
	r.result = Result{Case: r.name, Fenced: r.fenced}
	if err := r.deposit(ctx); err != nil {
		return err
	}
	if r.a, err = r.hire("A"); err != nil {
		return err
	}
	r.b, err = r.hire("B")
	return err
}

// deposit puts the opening balance into the account.
func (r *run) deposit(ctx context.Context) error {
	if !r.fenced {
		return os.WriteFile(r.file(), format(opening), 0o600)
	}
	return r.client.Do(ctx, r.lock(), func(ctx context.Context, l *client.Lock) error {
		return fencedAccount{l.KV()}.write(ctx, opening)
	})
}

// file is where the balance is, if it is not fenced.
func (r *run) file() string { return filepath.Join(r.dir, balanceKey) }

func (r *run) hire(name string) (*actor, error) {
	j := job{Name: name, Endpoints: r.client.Etcd().Endpoints(), Lock: r.lock(), TTL: workerTTL, Timeout: requestLimit}
	if !r.fenced {
		j.File = r.file()
	}
	return startActor(r.worker, r.dir, j)
}

// takeLock has an actor take the lock and read the balance.
func (r *run) takeLock(ctx context.Context, a *actor, how string) (fencing.Token, error) {
	got, err := a.ask(ctx, order{Do: doLock}, locked)
	if err != nil {
		return 0, err
	}
	r.timeline.event(takes, a.name, got.Token, "%s", how)
	balance, err := a.ask(ctx, order{Do: doRead}, read)
	if err != nil {
		return 0, err
	}
	note := ""
	if r.fenced {
		note = fmt.Sprintf("; that raises the fence to %v", got.Token)
	}
	r.timeline.event(reads, a.name, got.Token, "reads %d%s", balance.Balance, note)
	return got.Token, nil
}

// acknowledge notes an update that a worker was told has been made.
func (r *run) acknowledge(worker string, add int, token fencing.Token, balance int) {
	r.ledger = append(r.ledger, Update{worker, add})
	r.timeline.event(writes, worker, token, "writes %d: accepted", balance)
}
