package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newCompletionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes command lines in a shell",
		Long: `Print a script that completes command lines in a shell: commands, flags, and the
names of locks that are held, for which it asks the cluster that the command line
and the settings name, for at most a second.

  bash   source <(fencelock completion bash)          in ~/.bashrc; needs the package bash-completion
  zsh    source <(fencelock completion zsh)           in ~/.zshrc, after compinit
  fish   fencelock completion fish > ~/.config/fish/completions/fencelock.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args:      arguments(1, 1, "one of bash, zsh, fish"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var script strings.Builder
			var err error
			switch args[0] {
			case "bash":
				err = cmd.Root().GenBashCompletionV2(&script, true)
			case "zsh":
				err = cmd.Root().GenZshCompletion(&script)
			case "fish":
				err = cmd.Root().GenFishCompletion(&script, true)
			default:
				return usagef(cmd, "%q: want one of bash, zsh, fish", args[0])
			}
			if err != nil {
				return fmt.Errorf("completion: %w", err)
			}
			return a.write(script.String())
		},
	}
}
