package cli

import (
	"errors"
	"slices"
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
	names   []string // each once
	labels  map[string]string
	shared  bool
	limit   int // of a semaphore; 0: it is a lock
	try     bool
	wait    time.Duration // 0: without end, unless try
	grace   time.Duration // negative: the default
	command *supervisor.Command
}

func (o *lockOptions) plan(cmd *cobra.Command, args []string) (*lockPlan, error) {
	names, command, err := o.split(cmd, args)
	if err != nil {
		return nil, err
	}
	if err := o.check(cmd, names, command); err != nil {
		return nil, err
	}
	cfg, err := o.app.loadConfig(cmd)
	if err != nil {
		return nil, err
	}
	waits := cmd.Flags().Changed("wait") || cmd.Flags().Changed("timeout")
	p := &lockPlan{config: cfg, names: names, shared: o.shared, limit: o.limit, try: o.try || waits && o.wait == 0, wait: o.wait, grace: -1}
	if cmd.Flags().Changed("grace") {
		if err := supervisor.CheckGrace(o.grace, cfg.Client.TTL); err != nil {
			return nil, usagef(cmd, "--%w", err)
		}
		p.grace = o.grace
	}
	if p.labels, err = labelsOf(o.labels); err != nil {
		return nil, misuse(cmd, err)
	}
	if len(command) > 0 {
		p.command, err = o.app.resolve(command)
	}
	return p, err
}

// newClient makes a client whose claims, of every kind, bear the labels.
func (p *lockPlan) newClient() (*client.Client, error) {
	settings, err := p.config.Client.Config()
	if err != nil {
		return nil, &usageError{err: err}
	}
	settings.Labels = p.labels
	return client.New(settings)
}

// split tells the names from the command, which begins after "--". Names that begin
// with "-" have a "--" of their own before them: lock -- -a -- COMMAND. Any other name
// there would be a command's first word, whose lock was forgotten.
func (o *lockOptions) split(cmd *cobra.Command, args []string) (names, command []string, err error) {
	names, dash := args, cmd.ArgsLenAtDash()
	if dash == 0 && len(args) > 0 && strings.HasPrefix(args[0], "-") {
		dash = slices.Index(args, "--")
		if dash >= 0 {
			args = slices.Delete(slices.Clone(args), dash, dash+1)
		}
	}
	if dash >= 0 {
		names, command = args[:dash], args[dash:]
	}
	switch {
	case len(names) == 0:
		return nil, nil, usagef(cmd, "the lock's NAME is missing")
	case len(names) > 1 && dash < 0 && !o.hold:
		return nil, nil, usagef(cmd, `%d arguments; a command goes after "--": lock %s -- %s; to hold several locks without one, give --hold`,
			len(args), names[0], strings.Join(names[1:], " "))
	case dash >= 0 && len(command) == 0:
		return nil, nil, usagef(cmd, `no command after "--"; leave "--" out to hold the lock without a command`)
	}
	return checkNames(cmd, names, command)
}

func checkNames(cmd *cobra.Command, names, command []string) (each, _ []string, err error) {
	for _, name := range names {
		if err := keys.CheckName(name); err != nil {
			return nil, nil, misuse(cmd, err)
		}
		if !slices.Contains(each, name) {
			each = append(each, name)
		}
	}
	if len(each) > client.MaxLocks {
		return nil, nil, usagef(cmd, "%d locks together; want at most %d", len(each), client.MaxLocks)
	}
	return each, command, nil
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
