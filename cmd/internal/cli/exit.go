package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/fencing"
)

// The exit codes of every command but lock, which has more, see lock.go.
const (
	codeOK        = 0
	codeFailure   = 1 // no cluster, no quorum, an input or output error, an interruption
	codeUsage     = 2 // flags, arguments, names, tokens or settings that cannot be; nothing was sent
	codeRefused   = 3 // stale, not held, not issued, wrong guard: nothing was read or written
	codeNotFound  = 4 // what was asked for does not exist
	codeUncertain = 5 // no answer came to a write: it may have been applied, or may be yet
)

// annotationFailure names, in a command's Annotations, the exit code of all its
// errors that are no exitError, wrong usage included.
const annotationFailure = "fencelock/failure"

// exitError is an error with an exit code of its own. Without err nothing is
// printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "exit code " + strconv.Itoa(e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a command line, or a configuration, that cannot be carried out.
// hint, if not empty, says where to read on.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.err.Error()
	}
	return e.err.Error() + "; " + e.hint
}

func (e *usageError) Unwrap() error { return e.err }

// usagef is a usageError that names cmd and points to its help.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{
		err:  misuse(cmd, fmt.Errorf(format, args...)),
		hint: fmt.Sprintf("see %q", cmd.CommandPath()+" --help"),
	}
}

// errNotFound: what a command was asked for does not exist.
var errNotFound = errors.New("not found")

// codeOf returns the exit code that an error of cmd asks for.
func codeOf(cmd *cobra.Command, err error) int {
	var own *exitError
	switch {
	case err == nil:
		return codeOK
	case errors.As(err, &own):
		return own.code
	}
	if failure, ok := cmd.Annotations[annotationFailure]; ok {
		code, _ := strconv.Atoi(failure) // written by a command of this package
		return code
	}
	return codeOfError(err)
}

// codeOfError puts an unknown outcome first: it must not pass for a plain failure
// because of what else the error wraps.
func codeOfError(err error) int {
	var usage *usageError
	switch {
	case errors.Is(err, fencing.ErrUncertain):
		return codeUncertain
	case isAny(err, fencing.ErrStale, fencing.ErrNotHeld, fencing.ErrNotIssued, fencing.ErrWrongGuard):
		return codeRefused
	case errors.As(err, &usage), isAny(err, fencing.ErrInvalidName, fencing.ErrMalformed, fencing.ErrMissing):
		return codeUsage
	case errors.Is(err, errNotFound):
		return codeNotFound
	}
	return codeFailure
}

func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
