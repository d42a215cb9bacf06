package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/config"
	"github.com/fencelock/fencelock/fencing"
)

const (
	completionTime = time.Second // a shell that waits longer for Tab feels stuck
	completionMost = 200         // words; more are no help
)

// completer offers words in place of what has been typed so far.
type completer = cobra.CompletionFunc

// addCompletions has the arguments of commands completed from the cluster. Whatever
// goes wrong there, they are not.
func addCompletions(a *app, root *cobra.Command) {
	first := func(offer completer) completer {
		return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return offer(cmd, args, typed)
		}
	}
	for path, offer := range map[string]completer{
		"lock": a.completeCommandLine, "locks": first(a.completeNames), "watch": first(a.completeNames),
		"inspect": first(a.completeNames), "break": first(a.completeNames), "top": first(a.completeNames),
		"check": first(a.completeSequencers), "kv get": first(a.completeNames), "kv put": first(a.completeNames),
		"kv del": first(a.completeNames), "kv list": first(a.completeNames),
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil {
			cmd.ValidArgsFunction = offer
			if cmd.Flags().Lookup("token") != nil {
				_ = cmd.RegisterFlagCompletionFunc("token", a.completeTokens) // fails only if it was done before
			}
		}
	}
	completeChoices(root)
}

// completeChoices offers the values of every flag whose type lists them, as in
// table|json|yaml.
func completeChoices(cmd *cobra.Command) {
	offer := func(f *pflag.Flag) {
		if choices := strings.Split(f.Value.Type(), "|"); len(choices) > 1 && !strings.Contains(f.Value.Type(), ":") {
			words := slices.DeleteFunc(choices, isKind)
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails only if it was done before
		}
	}
	cmd.Flags().VisitAll(offer)
	cmd.PersistentFlags().VisitAll(offer)
	for _, below := range cmd.Commands() {
		completeChoices(below)
	}
}

// isKind tells a choice that stands for many, as N or duration, from a word to type.
func isKind(choice string) bool { return choice == "N" || choice == "duration" }

// completeCommandLine offers names up to the "--", and leaves what follows to the
// shell.
func (a *app) completeCommandLine(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if before := a.Args[:max(len(a.Args)-1, 0)]; slices.Contains(before, "--") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.completeNames(cmd, args, typed)
}

// completeNames offers the locks that are held, but those that are given already.
func (a *app) completeNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, typed, func(info client.LockInfo) []string {
		if slices.Contains(args, info.Name) {
			return nil
		}
		return []string{cobra.CompletionWithDesc(info.Name, describe(info))}
	})
}

// completeSequencers offers those of exclusive holders.
func (a *app) completeSequencers(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	prefix, _, _ := strings.Cut(typed, "#")
	return a.complete(cmd, prefix, func(info client.LockInfo) (words []string) {
		for _, h := range info.Holders {
			if h.Exclusive() {
				words = append(words, cobra.CompletionWithDesc(fencing.Sequencer{Lock: info.Name, Token: h.Token}.String(), describe(info)))
			}
		}
		return words
	})
}

// completeTokens offers those of the claims on the lock that is named already.
func (a *app) completeTokens(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, args[0], func(info client.LockInfo) (words []string) {
		if info.Name != args[0] {
			return nil
		}
		for _, h := range info.Holders {
			words = append(words, cobra.CompletionWithDesc(h.Token.String(), "holds: "+claimOf(h).who()))
		}
		for _, w := range info.Waiters {
			words = append(words, cobra.CompletionWithDesc(w.Token.String(), "waits: "+claimOf(w).who()))
		}
		return words
	})
}

// describe says of a lock what a person may want to choose by.
func describe(info client.LockInfo) string {
	if len(info.Holders) == 0 {
		return "free"
	}
	text := claimOf(info.Holders[0]).who()
	if n := len(info.Waiters); n > 0 {
		text += fmt.Sprintf(", %d waiting", n)
	}
	return text
}

// complete makes words of the locks whose names begin with prefix. It is silent
// about errors: they would be printed into the line that somebody is typing.
func (a *app) complete(cmd *cobra.Command, prefix string, of func(client.LockInfo) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	words, _ := outlive(ctx, func() ([]string, error) { return a.words(ctx, cmd, prefix, of) })
	return words, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) words(ctx context.Context, cmd *cobra.Command, prefix string, of func(client.LockInfo) []string) (words []string, err error) {
	cfg, err := config.Load(config.Sources{Flags: cmd.Flags(), Env: a.Env, File: a.file})
	if err != nil {
		return nil, err
	}
	cfg.Client.DialTimeout = min(cfg.Client.DialTimeout, completionTime)
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for info, err := range c.Locks(ctx, prefix) {
		if err != nil || len(words) >= completionMost {
			return words, err
		}
		if strings.HasPrefix(info.Name, prefix) {
			words = append(words, of(info)...)
		}
	}
	return words, nil
}
