package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const referenceHead = `# The commands

<!-- Made from the program's help. Do not edit: go run ./cmd/fencelock man --reference docs/cli.md -->

What ` + "`fencelock COMMAND --help`" + ` prints, for all commands. [output.md](output.md) has the fields that ` + "`-o json`" + ` prints, and the exit codes.

`

// reference is docs/cli.md: every command that is not hidden.
func reference(root *cobra.Command) string {
	var page strings.Builder
	page.WriteString(referenceHead)
	page.WriteString("| command | what it does |\n|---|---|\n")
	visit(root, func(cmd *cobra.Command) {
		if name := cmd.CommandPath(); cmd != root {
			fmt.Fprintf(&page, "| [`%s`](#%s) | %s |\n", commandName(cmd), strings.ReplaceAll(name, " ", "-"), cmd.Short)
		}
	})
	visit(root, func(cmd *cobra.Command) { page.WriteString(section(cmd)) })
	return page.String()
}

// visit goes through cmd and the commands below it, in the order of their names.
func visit(cmd *cobra.Command, f func(*cobra.Command)) {
	if cmd.Hidden || cmd.Name() == "help" { // cobra adds help when it runs
		return
	}
	f(cmd)
	for _, below := range cmd.Commands() {
		visit(below, f)
	}
}

// section is one command. The flags that all commands have are with the root.
func section(cmd *cobra.Command) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n## %s\n\n", cmd.CommandPath())
	block(&text, cmd.UseLine()+"\n\n"+commandText(cmd))
	if cmd.Example != "" {
		text.WriteString("\nFor example:\n\n")
		block(&text, cmd.Example)
	}
	if flags := flagText(cmd); flags != "" {
		if !cmd.HasParent() {
			text.WriteString("\nThe flags of every command:\n\n")
		} else {
			text.WriteString("\nFlags:\n\n")
		}
		block(&text, flags)
	}
	return text.String()
}

func commandText(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short
}

// flagText are the command's own flags. Help is one of them only if it was asked for.
func flagText(cmd *cobra.Command) string {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" {
			own.AddFlag(flag)
		}
	})
	return own.FlagUsages()
}

func block(page *strings.Builder, text string) {
	fmt.Fprintf(page, "```text\n%s\n```\n", strings.Trim(text, "\n"))
}
