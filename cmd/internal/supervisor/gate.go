//go:build linux || darwin

package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// gate is the process that becomes the command, as fencelock sees it.
type gate struct {
	group group
	cmd   *exec.Cmd
	line  *os.File // to say go; ends when the gate has become the command
}

// startGate starts the gate in a group of its own. The gate gets every descriptor
// that fencelock itself was given by its caller, under the same number (make's
// job server, sockets of systemd), and so does the command; of fencelock's own
// descriptors it gets its end of the line, which the exec closes.
//
// No other process may be started meanwhile: it would get that end, too.
func startGate(cfg Config) (*gate, error) {
	path, err := self()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	fd := int(theirs.Fd())
	cmd := &exec.Cmd{
		Path:        path,
		Args:        append([]string{"fencelock", GateCommand, strconv.Itoa(fd), cfg.Command.Path}, cfg.Command.Args...),
		Env:         cfg.Env,
		Stdin:       cfg.Stdin,
		Stdout:      cfg.Stdout,
		Stderr:      cfg.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		ours.Close()
		return nil, err
	}
	return &gate{group: group(cmd.Process.Pid), cmd: cmd, line: ours}, nil
}

// open lets the gate become the command, and returns when it has, or why it could
// not. A gate that has died says nothing; its status does.
func (g *gate) open() error {
	_, _ = g.line.Write([]byte{'\n'})
	answer, _ := io.ReadAll(g.line)
	number, err := strconv.Atoi(string(answer))
	if err != nil {
		return nil
	}
	errno := syscall.Errno(number)
	if errors.Is(errno, unix.ENOENT) {
		return fmt.Errorf("%w: run %q: %w", ErrNotFound, g.cmd.Args[3], errno)
	}
	return fmt.Errorf("%w: run %q: %w", ErrNotExecutable, g.cmd.Args[3], errno)
}

// reap takes the leader's status. From then on the group's number may be given
// to others.
func (g *gate) reap() (syscall.WaitStatus, error) {
	g.line.Close()
	err := g.cmd.Wait()
	if g.cmd.ProcessState == nil {
		return 0, fmt.Errorf("wait for the command: %w", err)
	}
	return g.cmd.ProcessState.Sys().(syscall.WaitStatus), nil
}

// Gate is the gate itself, the hidden command that becomes the user's command:
// args are a descriptor, a path, and the command's arguments. It returns only if
// the command could not be run; fencelock has been told why.
func Gate(args []string) error {
	if len(args) < 3 {
		return errors.New("this command is for fencelock's own use")
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(fd)
	line := os.NewFile(uintptr(fd), "fencelock")
	if _, err := io.ReadFull(line, make([]byte, 1)); err != nil {
		return errors.New("fencelock has ended before the command began")
	}
	err = execute(args[1], args[2:])
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		_, err = line.WriteString(strconv.Itoa(int(errno)))
	}
	return err
}

// execute becomes the command. A file without a known format is a shell script,
// as for execvp.
func execute(path string, args []string) error {
	err := syscall.Exec(path, args, os.Environ())
	if errors.Is(err, unix.ENOEXEC) {
		return syscall.Exec("/bin/sh", append([]string{"/bin/sh", path}, args[1:]...), os.Environ())
	}
	return err
}
