package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// rootName is the user, and the role, that etcd lets do everything.
const rootName = "root"

func newAuthCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth",
		Short: "Say who may take which locks",
		Long: `Say who may take which locks. Users log in with a password (--user and
FENCELOCK_CLIENT_PASSWORD), or are who their certificate's common name says, where
members ask for certificates. Rights belong to roles, and users have roles.

"auth grant" gives one user all that a client needs for the locks under a prefix,
and nothing else. Nobody is refused anything before "auth enable"; from then on
these commands need the user root.`,
		Example: `  fencelock auth user add root
  fencelock auth enable
  fencelock auth grant billing --prefix orders/ --user root`,
		Args: noSuchCommand,
		RunE: commandMissing,
	}
	cmd.AddCommand(newAuthEnableCommand(a), newAuthDisableCommand(a), newAuthStatusCommand(a), newAuthGrantCommand(a),
		newAuthUserCommand(a), newAuthRoleCommand(a))
	return cmd
}

// admin carries out requests about users and roles, each within the time that a
// request may take.
type admin struct {
	*app
	etcd   *clientv3.Client
	config config.Config
}

// asAdmin makes an action of f.
func (a *app) asAdmin(f func(ctx context.Context, admin admin, args []string) error) action {
	return interruptible(func(cmd *cobra.Command, args []string) error {
		return a.withClient(cmd, func(c *client.Client, cfg config.Config) error {
			err := f(cmd.Context(), admin{a, c.Etcd(), cfg}, args)
			if err != nil {
				return misuse(cmd, err)
			}
			return nil
		})
	})
}

// change sends a request that changes something.
func (a admin) change(ctx context.Context, doing string, send func(context.Context) error) error {
	ctx, cancel := outcome.Bound(ctx, a.config.Client.DialTimeout)
	defer cancel()
	if err := send(ctx); err != nil {
		return explainAuth(err, outcome.OfWrite(ctx, doing, err, a.etcd.Endpoints()))
	}
	return nil
}

// ensure is change where what is to be made may be there already.
func (a admin) ensure(ctx context.Context, doing string, there error, send func(context.Context) error) error {
	err := a.change(ctx, doing, send)
	if errors.Is(err, there) {
		return nil
	}
	return err
}

// look sends a request that changes nothing.
func (a admin) look(ctx context.Context, doing string, send func(context.Context) error) error {
	ctx, cancel := outcome.Bound(ctx, a.config.Client.DialTimeout)
	defer cancel()
	if err := send(ctx); err != nil {
		return explainAuth(err, outcome.OfRead(ctx, doing, err, a.etcd.Endpoints()))
	}
	return nil
}

// explainAuth adds to err, which words cause, what to do, and makes what does not
// exist "not found".
func explainAuth(cause, err error) error {
	switch {
	case errors.Is(cause, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("only a user with the role root may: log in with --user root, or with root's certificate (%w)", cause)
	case errors.Is(cause, rpctypes.ErrUserEmpty):
		return fmt.Errorf("%w; authentication is on: log in with --user root, or with root's certificate", err)
	case isAny(cause, rpctypes.ErrUserNotFound, rpctypes.ErrRoleNotFound, rpctypes.ErrPermissionNotGranted, rpctypes.ErrRoleNotGranted):
		return fmt.Errorf("%w: %w", errNotFound, err)
	case errors.Is(cause, rpctypes.ErrInvalidAuthMgmt):
		return fmt.Errorf("%w; root keeps its user and role while authentication is on: turn it off first", err)
	}
	return err
}

// newAuthListCommand lists what there is of one kind.
func newAuthListCommand[T printable](a *app, short string, list func(admin, context.Context) (T, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: short,
		Args:  arguments(0, 0, "no arguments"),
		RunE: a.asAdmin(func(ctx context.Context, admin admin, _ []string) error {
			found, err := list(admin, ctx)
			if err != nil {
				return err
			}
			return admin.print(admin.config.Output, found)
		}),
	}
}
