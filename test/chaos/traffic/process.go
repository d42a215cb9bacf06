package traffic

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fencelock/fencelock/client"
)

// process is one life of a client process.
type process struct {
	cfg     Config
	log     *recorder
	client  *client.Client
	targets map[string]target // all but kv, which the client brings
	still   *standstill
}

func newProcess(cfg Config, log *recorder) (_ *process, err error) {
	p := &process{cfg: cfg, log: log, targets: map[string]target{}, still: &standstill{tasks: len(cfg.Workloads), stop: stopProcess}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	p.client, err = client.New(client.Config{Endpoints: cfg.Endpoints, TTL: cfg.TTL, Owner: cfg.Client, DialTimeout: opTimeout})
	if err != nil {
		return nil, err
	}
	for _, name := range cfg.Targets {
		if name == kvTarget {
			continue
		}
		if p.targets[name], err = openTarget(name, cfg); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return p, nil
}

func (p *process) close() error {
	var errs []error
	if p.client != nil {
		errs = append(errs, p.client.Close())
	}
	for _, t := range p.targets {
		if t != nil {
			errs = append(errs, t.close())
		}
	}
	return errors.Join(errs...)
}

// tasks returns one task for each lock.
func (p *process) tasks() []*task {
	var all []*task
	for _, target := range p.cfg.Targets {
		for _, workload := range p.cfg.Workloads {
			lock := lockName(target, workload)
			all = append(all, &task{process: p, lock: lock, rand: p.random(lock)})
		}
	}
	return all
}

func lockName(target, workload string) string { return target + "/" + workload + "/0" }

// random is the source of a task's choices: the same in a run that is repeated.
func (p *process) random(lock string) *rand.Rand {
	sum := fnv.New64a()
	sum.Write([]byte(p.cfg.Client + " " + lock)) // never fails
	return rand.New(rand.NewPCG(p.cfg.Seed, sum.Sum64()))
}

// work runs every task until ctx ends.
func (p *process) work(ctx context.Context) {
	defer p.still.listen(ctx)()
	var wg sync.WaitGroup
	for _, t := range p.tasks() {
		wg.Go(func() { t.run(ctx) })
	}
	wg.Wait()
}

// has reports whether the process works on a lock.
func (p *process) has(target, workload string) bool {
	return slices.Contains(p.cfg.Targets, target) && slices.Contains(p.cfg.Workloads, workload)
}

// rest waits, and reports whether ctx lasts.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
