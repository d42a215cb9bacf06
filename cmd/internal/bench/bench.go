package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Prefix is what the names of all locks begin with that a bench takes.
const Prefix = "bench/"

// cleaningTime bounds the deletion of what was written: it happens also when the
// caller's ctx has ended.
const cleaningTime = 10 * time.Second

// Config of a bench.
type Config struct {
	Connect  func() (*client.Client, error) // makes one of the clients
	Space    keys.Space                     // theirs
	Clients  int                            // side by side, at least 1; handover has at least 2
	Duration time.Duration                  // of each work
	Works    []string                       // of Works, in the order in which they are done

	// Progress, if not nil, is told how far a work is. Calls do not overlap.
	Progress func(work string, done, total time.Duration)
}

// Report is what was measured.
type Report struct {
	Clients  int      `json:"clients"`
	Seconds  float64  `json:"seconds"` // of each work
	Measured []Result `json:"works"`
}

// Run measures. Its error is the first one that any operation had, or ctx's.
func Run(ctx context.Context, cfg Config) (report Report, err error) {
	b := bench{Config: cfg, prefix: Prefix + strings.ToLower(rand.Text()[:8]) + "/"}
	defer func() { err = errors.Join(err, b.clean(ctx)) }()
	report = Report{Clients: cfg.Clients, Seconds: cfg.Duration.Seconds(), Measured: []Result{}}
	for _, w := range works() {
		if !slices.Contains(cfg.Works, w.name) {
			continue
		}
		result, err := b.measure(ctx, w)
		if err != nil {
			return report, fmt.Errorf("measure %s: %w", w.name, err)
		}
		report.Measured = append(report.Measured, result)
	}
	return report, nil
}

type bench struct {
	Config
	prefix string

	mu     sync.Mutex
	guards []string // with records behind them
}

// clean deletes records and fences. Nobody else has them: their names are new.
func (b *bench) clean(ctx context.Context) (err error) {
	if len(b.guards) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaningTime)
	defer cancel()
	defer func() {
		if err != nil {
			err = fmt.Errorf("delete the records under %q, which do no harm but take room: %w", b.prefix, err)
		}
	}()
	c, err := b.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	for _, guard := range b.guards {
		_, err := c.Etcd().Txn(ctx).Then(
			clientv3.OpDelete(b.Space.Records(guard), clientv3.WithPrefix()),
			clientv3.OpDelete(b.Space.Fence(guard)),
		).Commit()
		if err != nil {
			return err
		}
	}
	return nil
}
