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

func newAuthRoleCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "role", Short: "Add, change and list roles", Args: noSuchCommand, RunE: commandMissing}
	cmd.AddCommand(
		userCommand(a, "add ROLE", "Add a role", 1, func(ctx context.Context, a admin, args []string) error {
			if err := checkAuthName("role", args[0]); err != nil {
				return err
			}
			return a.change(ctx, "add role "+args[0], func(ctx context.Context) error {
				_, err := a.etcd.RoleAdd(ctx, args[0])
				return err
			})
		}),
		userCommand(a, "delete ROLE", "Delete a role, and take it from all users", 1, func(ctx context.Context, a admin, args []string) error {
			return a.change(ctx, "delete role "+args[0], func(ctx context.Context) error {
				_, err := a.etcd.RoleDelete(ctx, args[0])
				return err
			})
		}),
		newRoleRightsCommand(a, "grant ROLE --prefix PREFIX/", "Give a role all that a client needs for the locks under a prefix", admin.permit),
		newRoleRightsCommand(a, "revoke ROLE --prefix PREFIX/", "Take from a role what \"grant\" gave it", admin.forbid),
		newAuthListCommand(a, "List roles and their rights", admin.roles))
	return cmd
}

func newRoleRightsCommand(a *app, use, short string, run func(admin, context.Context, string, []string) error) *cobra.Command {
	var prefix string
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  arguments(1, 1, "ROLE"),
		RunE: a.asAdmin(func(ctx context.Context, admin admin, args []string) error {
			rights, err := admin.rights(prefix)
			if err != nil {
				return err
			}
			return run(admin, ctx, args[0], rights)
		}),
	}
	addPrefixFlag(cmd, &prefix)
	return cmd
}

// addRole makes a role, unless it is there.
func (a admin) addRole(ctx context.Context, role string) error {
	return a.ensure(ctx, "add role "+role, rpctypes.ErrRoleAlreadyExist, func(ctx context.Context) error {
		_, err := a.etcd.RoleAdd(ctx, role)
		return err
	})
}

func (a admin) permit(ctx context.Context, role string, rights []string) error {
	for _, prefix := range rights {
		err := a.change(ctx, fmt.Sprintf("grant %s to role %s", prefix, role), func(ctx context.Context) error {
			_, err := a.etcd.RoleGrantPermission(ctx, role, prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a admin) forbid(ctx context.Context, role string, rights []string) error {
	for _, prefix := range rights {
		err := a.change(ctx, fmt.Sprintf("take %s from role %s", prefix, role), func(ctx context.Context) error {
			_, err := a.etcd.RoleRevokePermission(ctx, role, prefix, clientv3.GetPrefixRangeEnd(prefix))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// authRight is one right of a role.
type authRight struct {
	Type     string `json:"type"` // "read", "write" or "readwrite"
	Key      string `json:"key"`
	RangeEnd string `json:"range_end"` // empty: the one key
	Prefix   bool   `json:"prefix"`    // the range is all keys that begin with Key
}

type authRole struct {
	Name   string      `json:"name"`
	Rights []authRight `json:"rights"`
}

type authRoles []authRole

func (a admin) roles(ctx context.Context) (authRoles, error) {
	list := authRoles{}
	err := a.look(ctx, "list roles", func(ctx context.Context) error {
		names, err := a.etcd.RoleList(ctx)
		if err != nil {
			return err
		}
		for _, name := range names.Roles {
			role, err := a.etcd.RoleGet(ctx, name)
			if isAny(err, rpctypes.ErrRoleNotFound) {
				continue // deleted meanwhile
			}
			if err != nil {
				return err
			}
			list = append(list, authRole{name, rightsOf(role)})
		}
		return nil
	})
	return list, err
}

func rightsOf(role *clientv3.AuthRoleGetResponse) []authRight {
	rights := []authRight{}
	for _, p := range role.Perm {
		key, end := string(p.Key), string(p.RangeEnd)
		rights = append(rights, authRight{strings.ToLower(p.PermType.String()), key, end, end != "" && end == clientv3.GetPrefixRangeEnd(key)})
	}
	return rights
}

func (list authRoles) table(w io.Writer) {
	row(w, "ROLE", "RIGHT", "KEYS")
	for _, r := range list {
		if r.Name == rootName {
			row(w, rootName, "everything", "all")
			continue
		}
		for _, right := range r.Rights {
			row(w, visible(r.Name), right.Type, right.keys())
		}
		if len(r.Rights) == 0 {
			row(w, visible(r.Name), "nothing", "-")
		}
	}
}

func (r authRight) keys() string {
	switch {
	case r.Prefix:
		return visible(r.Key) + "*"
	case r.RangeEnd != "":
		return visible(r.Key) + " to " + visible(r.RangeEnd)
	}
	return visible(r.Key)
}
