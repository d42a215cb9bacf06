package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// broken is a claim that was taken away.
type broken struct {
	Name   string        `json:"name"`
	Token  fencing.Token `json:"token"`
	Owner  string        `json:"owner"`
	Was    string        `json:"was"`    // "holder", "waiter"; "claim" if it came and went too fast to tell
	Mode   string        `json:"mode"`   // of the claim
	Fenced bool          `json:"fenced"` // whether the fenced store refuses it from now on
}

// breakOptions are the arguments and flags of break.
type breakOptions struct {
	*app
	name  string
	token fencing.Token
	yes   bool
}

func newBreakCommand(a *app) *cobra.Command {
	o := &breakOptions{app: a}
	var token string
	cmd := &cobra.Command{
		Use:   "break NAME --token N",
		Short: "Take a lock away from its holder",
		Long: `Take a lock away from the holder, or the waiter, that has claimed it with this
token; "fencelock inspect NAME" shows it. If it held exclusively, the store behind
the lock's fence (fencelock kv) refuses it from now on. SQL, Redis, files and
services do not learn of it: they refuse it from the next holder's first
operation on. Until then it can go on writing there, so stop it if you can.

On a terminal it asks first, unless -y is given. No claim with that token is exit
code 3.`,
		Example: `  fencelock break nightly-report --token 33`,
		Args:    arguments(1, 1, "NAME"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) (err error) {
			o.name = args[0]
			if err := keys.CheckName(o.name); err != nil {
				return misuse(cmd, err)
			}
			if token == "" {
				return usagef(cmd, "--token is missing; fencelock inspect %s shows the holder's", visible(o.name))
			}
			if o.token, err = fencing.ParseToken(token); err != nil {
				return misuse(cmd, fmt.Errorf("--token: %w", err))
			}
			return a.withClient(cmd, func(c *client.Client, cfg config.Config) error { return o.run(cmd.Context(), c, cfg.Output) })
		}),
	}
	cmd.Flags().StringVar(&token, "token", "", "the token of the claim to break")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (o *breakOptions) run(ctx context.Context, c *client.Client, format string) error {
	info, err := c.Inspect(ctx, o.name)
	if err != nil && info.Name == "" { // else its fence alone could not be read
		return err
	}
	victim, found := o.victim(info)
	if found && !o.yes && isTerminal(o.Stdin) {
		if err := o.ask(ctx, victim); err != nil {
			return err
		}
	}
	if err := c.Break(ctx, o.name, o.token); err != nil {
		return err
	}
	return o.print(format, victim)
}

// victim is what will have been broken, if the claim is there.
func (o *breakOptions) victim(info client.LockInfo) (broken, bool) {
	v := broken{Name: o.name, Token: o.token, Was: "claim"}
	for _, h := range info.Holders {
		if h.Token == o.token {
			v.Owner, v.Was, v.Mode, v.Fenced = h.Owner, "holder", h.Mode, h.Exclusive()
			return v, true
		}
	}
	for _, w := range info.Waiters {
		if w.Token == o.token {
			v.Owner, v.Was, v.Mode = w.Owner, "waiter", w.Mode
			return v, true
		}
	}
	return v, false
}

// ask returns nil if the person says yes.
func (o *breakOptions) ask(ctx context.Context, v broken) error {
	fmt.Fprintf(o.Stderr, "Break %s, token %v, whose %s is %s? It is not told to stop. [y/N] ", visible(v.Name), v.Token, v.Was, v.who())
	answer, err := outlive(ctx, func() (string, error) { return bufio.NewReader(o.Stdin).ReadString('\n') })
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("break %q: %w", v.Name, err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return fmt.Errorf("break %q: not confirmed, so nothing was done", v.Name)
}

func (v broken) who() string { return claim{Owner: v.Owner}.whoOr("an unnamed client") }

func (v broken) table(w io.Writer) {
	row(w, fmt.Sprintf("broken: %s, token %v, whose %s was %s", visible(v.Name), v.Token, v.Was, v.who()))
	if v.Fenced {
		row(w, "fenced: the store behind the lock's fence (fencelock kv) refuses it from now on")
	}
	if v.Was == "holder" {
		row(w, "not fenced: SQL, Redis, files and services learn of it with the next holder's first operation; until then it can write there")
	}
}

// whoOr names the claim's owner.
func (c claim) whoOr(nobody string) string {
	if c.Owner == "" {
		return nobody
	}
	return visible(c.Owner)
}
