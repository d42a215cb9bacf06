package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func newAuthUserCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Add, change and list users", Args: noSuchCommand, RunE: commandMissing}
	cmd.AddCommand(newUserAddCommand(a), newUserPasswordCommand(a), newAuthListCommand(a, "List users and their roles", admin.users),
		userCommand(a, "delete USER", "Delete a user", 1, func(ctx context.Context, a admin, args []string) error {
			return a.change(ctx, "delete user "+args[0], func(ctx context.Context) error {
				_, err := a.etcd.UserDelete(ctx, args[0])
				return err
			})
		}),
		userCommand(a, "grant USER ROLE", "Give a user a role", 2, func(ctx context.Context, a admin, args []string) error {
			return a.giveRole(ctx, args[0], args[1])
		}),
		userCommand(a, "revoke USER ROLE", "Take a role from a user", 2, func(ctx context.Context, a admin, args []string) error {
			return a.change(ctx, fmt.Sprintf("take role %s from user %s", args[1], args[0]), func(ctx context.Context) error {
				_, err := a.etcd.UserRevokeRole(ctx, args[0], args[1])
				return err
			})
		}),
	)
	return cmd
}

// userCommand is a command that has names for arguments, and prints nothing.
func userCommand(a *app, use, short string, names int, run func(context.Context, admin, []string) error) *cobra.Command {
	_, want, _ := strings.Cut(use, " ")
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  arguments(names, names, strings.ReplaceAll(want, " ", " and ")),
		RunE:  a.asAdmin(run),
	}
}

func newUserAddCommand(a *app) *cobra.Command {
	var secret password
	cmd := userCommand(a, "add USER", "Add a user", 1, func(ctx context.Context, admin admin, args []string) error {
		if err := checkAuthName("user", args[0]); err != nil {
			return err
		}
		return admin.addUser(ctx, args[0], secret)
	})
	cmd.Long = "Add a user. It may do nothing until it is given a role.\n\n" + passwordHelp
	secret.addFlag(cmd)
	return cmd
}

func newUserPasswordCommand(a *app) *cobra.Command {
	cmd := userCommand(a, "passwd USER", "Change a user's password", 1, func(ctx context.Context, admin admin, args []string) error {
		text, err := admin.readPassword(ctx, args[0])
		if err != nil {
			return err
		}
		return admin.change(ctx, "change the password of user "+args[0], func(ctx context.Context) error {
			_, err := admin.etcd.UserChangePassword(ctx, args[0], text)
			return err
		})
	})
	cmd.Long = "Change a user's password. Its logins end.\n\n" + passwordSources
	return cmd
}

func (a admin) addUser(ctx context.Context, user string, secret password) error {
	text := ""
	if !secret.none {
		var err error
		if text, err = a.readPassword(ctx, user); err != nil {
			return err
		}
	}
	return a.change(ctx, "add user "+user, func(ctx context.Context) error {
		_, err := a.etcd.UserAddWithOptions(ctx, user, text, &clientv3.UserAddOptions{NoPassword: secret.none})
		return err
	})
}

// giveRole does nothing if the user has the role.
func (a admin) giveRole(ctx context.Context, user, role string) error {
	return a.change(ctx, fmt.Sprintf("give role %s to user %s", role, user), func(ctx context.Context) error {
		_, err := a.etcd.UserGrantRole(ctx, user, role)
		return err
	})
}

// authUser is a user and its roles.
type authUser struct {
	Name  string   `json:"name"`
	Roles []string `json:"roles"`
}

type authUsers []authUser

func (a admin) users(ctx context.Context) (authUsers, error) {
	list := authUsers{}
	err := a.look(ctx, "list users", func(ctx context.Context) error {
		names, err := a.etcd.UserList(ctx)
		if err != nil {
			return err
		}
		for _, name := range names.Users {
			user, err := a.etcd.UserGet(ctx, name)
			if isAny(err, rpctypes.ErrUserNotFound) {
				continue // deleted meanwhile
			}
			if err != nil {
				return err
			}
			list = append(list, authUser{name, append([]string{}, user.Roles...)})
		}
		return nil
	})
	return list, err
}

func (list authUsers) table(w io.Writer) {
	row(w, "USER", "ROLES")
	for _, u := range list {
		row(w, visible(u.Name), strings.Join(u.Roles, ", "))
	}
}
