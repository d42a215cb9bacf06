package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/supervisor"
	"github.com/fencelock/fencelock/config"
)

// The exit codes of lock that are not its command's; 128+n is signal n.
const (
	codeLost          = 123 // the lock was lost before the command ended, whatever its own code is
	codeLocked        = 124 // somebody else holds the lock; -E changes it
	codeLockFailure   = 125 // fencelock itself failed, wrong usage included
	codeNotExecutable = 126
	codeNoSuchCommand = 127
)

// lockOptions are the flags of lock.
type lockOptions struct {
	app    *app
	wait   time.Duration
	try    bool
	labels []string
	grace  time.Duration
	code   int
}

func newLockCommand(a *app) *cobra.Command {
	o := &lockOptions{app: a}
	cmd := &cobra.Command{
		Use:         "lock NAME [-- COMMAND [ARGUMENT]...]",
		Short:       "Run a command while holding a lock",
		Long:        lockHelp,
		Example:     lockExample,
		Annotations: map[string]string{annotationFailure: strconv.Itoa(codeLockFailure)},
		RunE:        o.run,
	}
	flags := cmd.Flags()
	config.AddFlags(flags, "client.ttl", "client.owner")
	flags.DurationVarP(&o.wait, "wait", "w", 0, "how long to wait for the lock, such as 30s or 5m (default: as long as it takes)")
	flags.DurationVar(&o.wait, "timeout", 0, "the same as --wait")
	flags.BoolVarP(&o.try, "try", "n", false, "do not wait")
	flags.StringArrayVar(&o.labels, "label", nil, "KEY=VALUE to show to those who look at the lock; may be repeated")
	flags.DurationVar(&o.grace, "grace", 0, "how long before the session's deadline the command is told to end, at most a third of the TTL (default a fifth)")
	flags.IntVarP(&o.code, "conflict-exit-code", "E", codeLocked, "exit code if the lock was not acquired in time, or with --try")
	return cmd
}

func (o *lockOptions) run(cmd *cobra.Command, args []string) error {
	p, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	c, err := newClient(p.config)
	if err != nil {
		return err
	}
	// What Close could not give back ends with its TTL: no reason for another exit code.
	defer c.Close()
	signals := notify()
	defer signals.stop()
	h, err := acquire(cmd.Context(), c, p, signals)
	if err != nil {
		return o.notAcquired(err)
	}
	if p.command == nil {
		return h.hold(o.app, signals)
	}
	return h.run(o.app, signals)
}

// notAcquired gives the errors of a failed acquisition their exit codes.
func (o *lockOptions) notAcquired(err error) error {
	var by *interruption
	switch {
	case errors.As(err, &by):
		return &exitError{code: by.code(), err: err}
	case errors.Is(err, client.ErrLocked):
		return &exitError{code: o.code, err: err}
	}
	return err
}

// acquire takes the lock, through a session of its own: it needs to know the TTL
// that was granted. A signal ends the wait.
func acquire(ctx context.Context, c *client.Client, p *lockPlan, signals *signals) (*holding, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	listening := signals.cancel(ctx, cancel, p.request.Name)
	h := &holding{plan: p}
	var err error
	h.lock, err = h.acquire(ctx, c)
	cancel(nil)
	listening.Wait()
	if by := context.Cause(ctx); by != context.Canceled {
		if err == nil {
			h.free()
		}
		return nil, by
	}
	return h, err
}

func (h *holding) acquire(ctx context.Context, c *client.Client) (*client.Lock, error) {
	if wait := h.plan.wait; wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	session, err := c.NewSession(ctx, h.plan.config.Client.TTL)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, client.ErrUnavailable):
		return nil, fmt.Errorf("lock %q: no answer from %v within %v: %w", h.plan.request.Name, c.Etcd().Endpoints(), h.plan.wait, err)
	case err != nil:
		return nil, fmt.Errorf("lock %q: %w", h.plan.request.Name, err)
	}
	h.ttl = session.TTL()
	return session.Acquire(ctx, h.plan.request)
}

// files are the standard files of this process, for a command to inherit.
func (a *app) files() (in, out, err *os.File, fault error) {
	in, isIn := a.Stdin.(*os.File)
	out, isOut := a.Stdout.(*os.File)
	err, isErr := a.Stderr.(*os.File)
	if !isIn || !isOut || !isErr {
		return nil, nil, nil, errors.New("standard input, output and error are no files of this process, so no command can have them")
	}
	return in, out, err, supervisor.Supported()
}
