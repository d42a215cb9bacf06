package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
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
	app         *app
	wait        time.Duration
	try, shared bool
	hold        bool
	limit       int
	labels      []string
	grace       time.Duration
	code        int
}

func newLockCommand(a *app) *cobra.Command {
	o := &lockOptions{app: a, code: codeLocked}
	cmd := &cobra.Command{
		Use:         "lock NAME... [-- COMMAND [ARGUMENT]...]",
		Short:       "Run a command while holding a lock",
		Long:        lockHelp,
		Example:     lockExample,
		Annotations: map[string]string{annotationFailure: strconv.Itoa(codeLockFailure)},
		RunE:        o.run,
	}
	flags := cmd.Flags()
	config.AddFlags(flags, "client.ttl", "client.owner")
	flags.VarP(&waitValue{to: &o.wait}, "wait", "w", "how long to wait for the lock, such as 30s or 5m (default: as long as it takes)")
	flags.Var(&waitValue{to: &o.wait}, "timeout", "the same as --wait")
	flags.BoolVarP(&o.try, "try", "n", false, "do not wait")
	flags.BoolVarP(&o.shared, "shared", "s", false, "hold together with other shared holders; there is no sequencer then")
	flags.Var(&numberValue{to: &o.limit, least: 1, most: client.MaxLimit}, "limit", "take one of N permits of the semaphore NAME; there is no sequencer then")
	flags.BoolVar(&o.hold, "hold", false, "hold several locks without a command")
	flags.StringArrayVar(&o.labels, "label", nil, "KEY=VALUE to show to those who look at the lock; may be repeated")
	flags.Var(&waitValue{to: &o.grace}, "grace", "how long before the session's deadline the command is told to end, at most a third of the TTL (default a fifth)")
	flags.VarP(&numberValue{to: &o.code, most: 255}, "conflict-exit-code", "E", "exit code if the lock was not acquired in time, or with --try")
	return cmd
}

func (o *lockOptions) run(cmd *cobra.Command, args []string) error {
	p, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	c, err := p.newClient()
	if err != nil {
		return err
	}
	// What Close could not give back ends with its TTL: no reason for another exit code.
	defer c.Close()
	signals := notify()
	defer signals.stop()
	h, err := o.app.acquire(cmd.Context(), c, p, signals)
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
func (a *app) acquire(ctx context.Context, c *client.Client, p *lockPlan, signals *signals) (*holding, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	listening := signals.cancel(ctx, cancel, p.what())
	h := &holding{plan: p}
	err := a.take(ctx, c, h)
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

func (a *app) take(ctx context.Context, c *client.Client, h *holding) error {
	if wait := h.plan.wait; wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	session, err := c.NewSession(ctx, h.plan.config.Client.TTL)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, client.ErrUnavailable):
		return fmt.Errorf("%s: %w: no answer from %s within %v: %w", h.plan.what(), client.ErrUnavailable, strings.Join(c.Etcd().Endpoints(), ", "), h.plan.wait, err)
	case err != nil:
		return fmt.Errorf("%s: %w", h.plan.what(), err)
	}
	h.ttl = session.TTL()
	tell := a.tellOfWaiting(ctx, c, h.plan, session.Lease())
	defer tell.end()
	h.held, err = h.plan.take(ctx, session)
	return err
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
