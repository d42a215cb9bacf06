package supervisor

import (
	"errors"
	"os"
	"time"
)

// The names of the hidden commands that run [Gate] and [Keeper]. The program calls
// itself with them.
const (
	GateCommand   = "__gate"
	KeeperCommand = "__keeper"
)

var (
	// ErrNotFound: there is no such command. Nothing was run.
	ErrNotFound = errors.New("command not found")

	// ErrNotExecutable: the command exists, but cannot be run. Nothing was run.
	ErrNotExecutable = errors.New("command cannot be executed")

	// errNearEnd is the cause of a loss that was decided before it happened.
	errNearEnd = errors.New("given up for lost shortly before the session's deadline, since no renewal was answered")
)

// Command is a program to run.
type Command struct {
	Path string   // of its file
	Args []string // its name, as given, and its arguments
}

// Holding is a lock that is held; *client.Lock is one.
type Holding interface {
	Done() <-chan struct{} // closed when it has ended
	Err() error            // nil while it is held
	Deadline() time.Time   // when it ends if no renewal succeeds
}

// Config says what to run, and under what.
type Config struct {
	Command Command
	Env     []string // of the command, as os.Environ
	Lock    Holding
	Grace   time.Duration // from SIGTERM to SIGKILL, see Grace; also for processes that the command leaves behind

	// Signals to pass on to the command. See [Forwarded].
	Signals <-chan os.Signal

	// The command's own; it gets the files themselves, not copies.
	Stdin, Stdout, Stderr *os.File
}

// Result is how a command ended.
type Result struct {
	Code  int      // its exit code, 128+n if signal n ended it
	Lost  error    // why the lock was lost, or given up for lost, before it ended; nil if it was not
	Notes []string // what the user should be told besides
}
