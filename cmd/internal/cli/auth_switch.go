package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

func newAuthEnableCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "enable",
		Short: "Turn authentication on",
		Long: `Turn authentication on. The user root must exist; it is given the role root here.
From then on every request needs a user, by password or certificate.`,
		Args: arguments(0, 0, "no arguments"),
		RunE: a.asAdmin(func(ctx context.Context, admin admin, _ []string) error { return admin.enable(ctx) }),
	}
}

func (a admin) enable(ctx context.Context) error {
	err := a.look(ctx, "look for the user root", func(ctx context.Context) error {
		_, err := a.etcd.UserGet(ctx, rootName)
		return err
	})
	if errors.Is(err, rpctypes.ErrUserNotFound) {
		return errors.New(`there is no user root, who alone could turn it off again; make it first: fencelock auth user add root`)
	}
	if err != nil {
		return err
	}
	if err := a.addRole(ctx, rootName); err != nil {
		return err
	}
	if err := a.giveRole(ctx, rootName, rootName); err != nil {
		return err
	}
	err = a.change(ctx, "turn authentication on", func(ctx context.Context) error {
		_, err := a.etcd.AuthEnable(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return a.say("authentication is on\n")
}

func newAuthDisableCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "disable",
		Short: "Turn authentication off: everybody may do everything",
		Args:  arguments(0, 0, "no arguments"),
		RunE: a.asAdmin(func(ctx context.Context, admin admin, _ []string) error {
			err := admin.change(ctx, "turn authentication off", func(ctx context.Context) error {
				_, err := admin.etcd.AuthDisable(ctx)
				return err
			})
			if err != nil {
				return err
			}
			return admin.say("authentication is off: whoever reaches a member may do everything\n")
		}),
	}
}

// authState is whether authentication is on.
type authState struct {
	Enabled  bool   `json:"enabled"`
	Revision uint64 `json:"revision,string"` // rises with every change of users and roles
}

func newAuthStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say whether authentication is on",
		Args:  arguments(0, 0, "no arguments"),
		RunE: a.asAdmin(func(ctx context.Context, admin admin, _ []string) error {
			var state authState
			err := admin.look(ctx, "ask whether authentication is on", func(ctx context.Context) error {
				resp, err := admin.etcd.AuthStatus(ctx)
				if err == nil {
					state = authState{resp.Enabled, resp.AuthRevision}
				}
				return err
			})
			if err != nil {
				return err
			}
			return admin.print(admin.config.Output, state)
		}),
	}
}

func (s authState) table(w io.Writer) {
	row(w, "ENABLED", "REVISION")
	row(w, strconv.FormatBool(s.Enabled), strconv.FormatUint(s.Revision, 10))
}

// say tells people what was done. Programs have the exit code.
func (a admin) say(format string, args ...any) error {
	if a.config.Output != "table" {
		return nil
	}
	if _, err := fmt.Fprintf(a.Stdout, format, args...); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
