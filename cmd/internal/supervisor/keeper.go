//go:build linux || darwin

package supervisor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeper is the process that kills the group if fencelock dies, as fencelock
// sees it.
type keeper struct {
	cmd  *exec.Cmd
	line *os.File // its other end is the keeper's standard input; ends with fencelock
}

// startKeeper starts the keeper, in its own session, so that what is meant for
// fencelock's group or terminal does not reach it. It has nothing open that
// others might wait for: a pipe that fencelock or the command write to ends
// without it.
func startKeeper() (*keeper, error) {
	path, err := self()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := &exec.Cmd{
		Path:        path,
		Args:        []string{"lock-keeper", KeeperCommand},
		Dir:         "/",
		Stdin:       theirs,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	return &keeper{cmd: cmd, line: ours}, nil
}

// arm tells the keeper which group to kill, and waits until it knows; as long as
// still returns nil, which is asked again and again.
func (k *keeper) arm(g group, still func() error) error {
	if _, err := fmt.Fprintln(k.line, int(g)); err != nil {
		return err
	}
	for {
		if err := k.line.SetReadDeadline(time.Now().Add(lookEvery)); err != nil {
			return err
		}
		_, err := io.ReadFull(k.line, make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := still(); err != nil {
			return err
		}
	}
}

// dismiss ends the keeper before it can act: it is killed, not asked, and its
// line closed only when it is certainly gone.
func (k *keeper) dismiss() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait() // always an error: it was killed
	k.line.Close()
}

// Keeper is the keeper itself, the hidden command at the other end of line. It
// returns after it has killed the group that it was told of, since fencelock has
// died; or if there was none.
func Keeper(line *os.File) error {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE)
	reader := bufio.NewReader(line)
	text, err := reader.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	number, err := strconv.Atoi(strings.TrimSuffix(text, "\n"))
	if err != nil || number <= 1 { // kill(2) takes 0 and -1 for many others
		return fmt.Errorf("this command is for fencelock's own use: group %q", text)
	}
	if _, err := line.Write([]byte{'\n'}); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, reader) // however it ends, fencelock has
	return group(number).signal(unix.SIGKILL)
}
