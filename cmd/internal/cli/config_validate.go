package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/config"
)

// validity is what can be said of a file of settings.
type validity struct {
	File   string   `json:"file"` // empty: there was none, and the environment alone was checked
	Valid  bool     `json:"valid"`
	Errors []string `json:"errors"` // for people; those about the file begin FILE:LINE where there is a line
}

func newConfigValidateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a file of settings",
		Long: `Check a file of settings, without FILE the one that --config or ` + config.FileVariable + `
names. It names every mistake, with its line: unknown keys, values that cannot be,
and then, together with the environment, settings that do not go together and TLS
files that cannot be read. No member is asked. A mistake is exit code 1.`,
		Example: `  fencelock config validate /etc/fencelock.yaml`,
		Args:    arguments(0, 1, "at most FILE"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			file := cmp.Or(strings.Join(args, ""), a.file, a.env(config.FileVariable))
			err, interrupted := outlive(cmd.Context(), func() (error, error) { return a.faultsOf(file), nil })
			if interrupted != nil {
				return fmt.Errorf("read the configuration: %w", interrupted)
			}
			a.warnOfVariables()
			return a.printValidity(a.formatOf(cmd), validityOf(file, err))
		}),
	}
}

// faultsOf looks at the file alone first: what the environment overrides has to be
// right as well.
func (a *app) faultsOf(file string) error {
	if file != "" {
		if _, err := config.Load(config.Sources{File: file}); err != nil {
			return err
		}
	}
	cfg, err := config.Load(config.Sources{File: file, Env: a.Env})
	if err != nil {
		return err
	}
	return cfg.Check()
}

// formatOf is how to print where the configuration may be wrong.
func (a *app) formatOf(cmd *cobra.Command) string {
	if flag := cmd.Flag("output"); flag.Changed {
		return flag.Value.String()
	}
	return a.env("FENCELOCK_OUTPUT")
}

func validityOf(file string, err error) validity {
	v := validity{File: file, Valid: err == nil, Errors: []string{}}
	if err != nil {
		v.Errors = strings.Split(err.Error(), "\n")
	}
	return v
}

// printValidity gives people the mistakes on standard error, and machines all of it
// on standard output.
func (a *app) printValidity(format string, v validity) error {
	if err := a.print(format, v); err != nil || v.Valid {
		return err
	}
	if format == "json" || format == "yaml" {
		return &exitError{code: codeFailure}
	}
	return &exitError{codeFailure, errors.New(strings.Join(v.Errors, "\n"))}
}

func (v validity) table(w io.Writer) {
	switch {
	case v.Valid && v.File == "":
		row(w, "no file; the environment is valid")
	case v.Valid:
		row(w, visible(v.File)+" is valid")
	}
}
