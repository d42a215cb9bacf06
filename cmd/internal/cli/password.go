package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const (
	// passwordVariable gives a new password to scripts.
	passwordVariable = "FENCELOCK_NEW_PASSWORD"

	passwordSources = "The new password is in " + passwordVariable + `, or the first line of standard input;
on a terminal it is asked for.`

	passwordHelp = passwordSources + ` With --no-password the user has none: only a
certificate with that common name is taken for it.`

	// maxPassword is as much as bcrypt takes, in bytes.
	maxPassword = 72
)

// password is how a new user is going to log in.
type password struct {
	none bool // not with a password
}

func (p *password) addFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.none, "no-password", false, "the user has a certificate instead, with its name as the common name")
}

// readPassword finds the new password of a user.
func (a *app) readPassword(ctx context.Context, user string) (string, error) {
	text := a.env(passwordVariable)
	if text == "" {
		var err error
		if text, err = a.askPassword(ctx, user); err != nil {
			return "", fmt.Errorf("read the new password: %w", err)
		}
	}
	switch {
	case text == "":
		return "", &usageError{err: errors.New("the new password is empty; set " + passwordVariable + ", or write it to standard input; a user that comes with a certificate has none: --no-password")}
	case len(text) > maxPassword:
		return "", &usageError{err: fmt.Errorf("the new password has %d bytes; want at most %d", len(text), maxPassword)}
	case !utf8.ValidString(text):
		return "", &usageError{err: errors.New("the new password is not UTF-8 text")}
	}
	return text, nil
}

func (a *app) askPassword(ctx context.Context, user string) (string, error) {
	if file, ok := a.Stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return a.promptPassword(ctx, file, user)
	}
	// One byte more than allowed is enough to be refused.
	line, err := bufio.NewReader(io.LimitReader(a.Stdin, maxPassword+3)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// promptPassword asks twice, without an echo. A signal ends it, and what still
// reads then ends with the process.
func (a *app) promptPassword(ctx context.Context, file *os.File, user string) (string, error) {
	before, err := term.GetState(int(file.Fd()))
	if err != nil {
		return "", err
	}
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := a.promptTwice(int(file.Fd()), user)
		done <- answer{text, err}
	}()
	select {
	case got := <-done:
		return got.text, got.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(int(file.Fd()), before))
	}
}

func (a *app) promptTwice(fd int, user string) (string, error) {
	var texts [2]string
	for i, prompt := range []string{"New password of " + user + ": ", "Once more: "} {
		fmt.Fprint(a.Stderr, prompt)
		text, err := term.ReadPassword(fd)
		fmt.Fprintln(a.Stderr)
		if err != nil {
			return "", err
		}
		texts[i] = string(text)
	}
	if texts[0] != texts[1] {
		return "", errors.New("the two are not the same")
	}
	return texts[0], nil
}

// checkAuthName refuses names that could not be typed or read again.
func checkAuthName(kind, name string) error {
	if name == "" || len(name) > 64 || name != visible(name) || strings.ContainsAny(name, ": ") {
		return &usageError{err: fmt.Errorf("%s %q: want 1 to 64 characters that can be printed, without ':' and spaces", kind, name)}
	}
	return nil
}
