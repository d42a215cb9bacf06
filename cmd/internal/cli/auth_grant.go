package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/fencelock/fencelock/fencing/keys"
)

func newAuthGrantCommand(a *app) *cobra.Command {
	var prefix string
	var secret password
	cmd := &cobra.Command{
		Use:   "grant USER --prefix PREFIX/",
		Short: "Give a user all that a client needs for the locks under a prefix",
		Long: `Give a user all that a client needs for the locks under a prefix, and nothing else:
read and write on their queues, fences, records and semaphores, in the namespace.
The user is made if it does not exist, and so is a role of its own, USER.locks.

` + passwordHelp,
		Example: `  fencelock auth grant billing --prefix orders/ --user root
  fencelock auth grant billing --prefix orders/ --no-password    # its certificate's common name is billing`,
		Args: arguments(1, 1, "USER"),
		RunE: a.asAdmin(func(ctx context.Context, admin admin, args []string) error {
			return admin.grant(ctx, args[0], prefix, secret)
		}),
	}
	addPrefixFlag(cmd, &prefix)
	secret.addFlag(cmd)
	return cmd
}

func addPrefixFlag(cmd *cobra.Command, prefix *string) {
	cmd.Flags().StringVar(prefix, "prefix", "", "what the names of the locks begin with, up to a slash: orders/")
}

// grant can be repeated: what is there already is left as it is.
func (a admin) grant(ctx context.Context, user, prefix string, secret password) error {
	rights, err := a.rights(prefix)
	if err != nil {
		return err
	}
	if err := checkAuthName("user", user); err != nil {
		return err
	}
	if user == rootName {
		return &usageError{err: errors.New("root may do everything already")}
	}
	if err := a.ensureUser(ctx, user, secret); err != nil {
		return err
	}
	role := user + ".locks"
	if err := a.addRole(ctx, role); err != nil {
		return err
	}
	if err := a.permit(ctx, role, rights); err != nil {
		return err
	}
	if err := a.giveRole(ctx, user, role); err != nil {
		return err
	}
	return a.say("user %s, by its role %s, may read and write:\n  %s\n", user, role, strings.Join(rights, "\n  "))
}

// rights are the prefixes of keys that go with locks under prefix.
func (a admin) rights(prefix string) ([]string, error) {
	space, err := keys.NewSpace(a.config.Client.Namespace)
	if err != nil {
		return nil, err
	}
	if err := keys.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(prefix, "/") {
		return nil, &usageError{err: fmt.Errorf("prefix %q: want one that ends with a slash, such as orders/; without one, orders2 would be meant as well", prefix)}
	}
	return space.Rights(prefix), nil
}

// ensureUser makes a user, for whom a password is asked only then.
func (a admin) ensureUser(ctx context.Context, user string, secret password) error {
	err := a.look(ctx, "look for the user "+user, func(ctx context.Context) error {
		_, err := a.etcd.UserGet(ctx, user)
		return err
	})
	if !errors.Is(err, rpctypes.ErrUserNotFound) {
		return err
	}
	err = a.addUser(ctx, user, secret)
	if errors.Is(err, rpctypes.ErrUserAlreadyExist) {
		return nil // somebody was faster
	}
	return err
}
