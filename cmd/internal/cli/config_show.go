package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/config"
)

// shownSetting is one setting as it stands.
type shownSetting struct {
	Key      string `json:"key"`
	Value    string `json:"value"`    // empty: it follows from others, or is not set
	Origin   string `json:"origin"`   // flag, environment, file or default
	From     string `json:"from"`     // the name of the flag, the variable or the file; empty for a default
	Variable string `json:"variable"` // which would set it
	Flag     string `json:"flag"`     // which would, where a command has it; empty: none does
}

type shownSettings []shownSetting

// hiddenValue stands for a secret that is set.
const hiddenValue = "(hidden)"

func newConfigShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show each setting, and where its value came from",
		Long: `Show each setting, and where its value came from: a flag, the environment, the
file, or its default. A value that is empty follows from other settings, or is not
set. Passwords are not shown.`,
		Example: `  fencelock config show
  fencelock config show --config /etc/fencelock.yaml -o yaml`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			a.warnOfVariables()
			return a.print(cfg.Output, settingsOf(cfg))
		}),
	}
}

func settingsOf(cfg config.Config) shownSettings {
	list := shownSettings{}
	for _, s := range cfg.Settings() {
		shown := shownSetting{Key: s.Key, Value: s.Value, Origin: layerText(s.Origin.Layer), From: s.Origin.Name, Variable: s.Variable}
		if s.Flag != "" {
			shown.Flag = "--" + s.Flag
		}
		if s.Secret && s.Value != "" {
			shown.Value = hiddenValue
		}
		list = append(list, shown)
	}
	return list
}

func layerText(l config.Layer) string {
	switch l {
	case config.Flag:
		return "flag"
	case config.Environment:
		return "environment"
	case config.File:
		return "file"
	}
	return "default"
}

func (list shownSettings) table(w io.Writer) {
	row(w, "SETTING", "VALUE", "FROM")
	for _, s := range list {
		from := s.Origin
		if s.From != "" {
			from += " " + visible(s.From)
		}
		row(w, s.Key, visibleOr(s.Value, "-"), from)
	}
}
