package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/supervisor"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing/keys"
)

// lockPlan is what to do, with everything checked that can be without asking the
// cluster: no lock is taken for a command that does not exist.
type lockPlan struct {
	config  config.Config
	request client.Request
	wait    time.Duration // 0: without end, unless request.Try
	grace   time.Duration // negative: the default
	command *supervisor.Command
}

func (o *lockOptions) plan(cmd *cobra.Command, args []string) (*lockPlan, error) {
	name, command, err := split(cmd, args)
	if err != nil {
		return nil, err
	}
	cfg, err := o.app.loadConfig(cmd)
	if err != nil {
		return nil, err
	}
	p := &lockPlan{config: cfg, wait: o.wait, grace: o.grace}
	if !cmd.Flags().Changed("grace") {
		p.grace = -1
	}
	if err := o.check(cmd, p); err != nil {
		return nil, err
	}
	waits := cmd.Flags().Changed("wait") || cmd.Flags().Changed("timeout")
	p.request = client.Request{Name: name, Try: o.try || waits && o.wait == 0}
	if p.request.Labels, err = labelsOf(o.labels); err != nil {
		return nil, misuse(cmd, err)
	}
	if len(command) > 0 {
		p.command, err = o.app.resolve(command)
	}
	return p, err
}

// check refuses flags whose values cannot be.
func (o *lockOptions) check(cmd *cobra.Command, p *lockPlan) error {
	switch {
	case o.wait < 0:
		return usagef(cmd, "--wait %v: want 0 or more", o.wait)
	case o.try && o.wait > 0:
		return usagef(cmd, "--try and --wait exclude each other")
	case o.code < 0 || o.code > 255:
		return usagef(cmd, "-E %d: want an exit code, 0 to 255", o.code)
	case p.grace >= 0 || cmd.Flags().Changed("grace"):
		if err := supervisor.CheckGrace(o.grace, p.config.Client.TTL); err != nil {
			return usagef(cmd, "--%w", err)
		}
	}
	return nil
}

// split tells the lock's name from the command, which begins after "--".
func split(cmd *cobra.Command, args []string) (name string, command []string, err error) {
	names, dash := args, cmd.ArgsLenAtDash()
	if dash >= 0 {
		names, command = args[:dash], args[dash:]
	}
	switch {
	case len(names) == 0:
		err = usagef(cmd, "the lock's NAME is missing")
	case len(names) > 1 && dash < 0:
		err = usagef(cmd, `%d arguments; a command goes after "--": lock %s -- %s`, len(args), names[0], strings.Join(names[1:], " "))
	case len(names) > 1:
		err = usagef(cmd, `%d names before "--"; want one lock`, len(names))
	case dash >= 0 && len(command) == 0:
		err = usagef(cmd, `no command after "--"; leave "--" out to hold the lock without a command`)
	default:
		if err = keys.CheckName(names[0]); err != nil {
			err = misuse(cmd, err)
		}
		name = names[0]
	}
	return name, command, err
}

// labelsOf reads KEY=VALUE; of two with one key the last counts.
func labelsOf(texts []string) (map[string]string, error) {
	labels := make(map[string]string, len(texts))
	for _, text := range texts {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("--label %q: want KEY=VALUE", text)
		}
		labels[key] = value
	}
	return labels, nil
}

// resolve finds a command's file.
func (a *app) resolve(command []string) (*supervisor.Command, error) {
	if _, _, _, err := a.files(); err != nil {
		return nil, err
	}
	found, err := supervisor.Resolve(command, a.env("PATH"))
	if err != nil {
		return nil, commandError(err)
	}
	return &found, nil
}

// commandError gives the errors of a command that could not be run their exit codes.
func commandError(err error) error {
	switch {
	case errors.Is(err, supervisor.ErrNotFound):
		return &exitError{code: codeNoSuchCommand, err: err}
	case errors.Is(err, supervisor.ErrNotExecutable):
		return &exitError{code: codeNotExecutable, err: err}
	}
	return err
}
