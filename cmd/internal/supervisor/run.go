//go:build linux || darwin

package supervisor

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supported says why commands cannot be run under a lock on this system; nil
// where they can.
func Supported() error { return nil }

// Forwarded are the signals that are meant for the command, or end the wait for a
// lock. What a terminal sends besides, Run listens for itself.
func Forwarded() []os.Signal {
	return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2}
}

// run is one command under a lock.
type run struct {
	cfg    Config
	watch  watch
	keeper *keeper
	gate   *gate // its process is the command once open has returned
	tty    *terminal
	lost   bool // before the command ended
	denied bool // the group may not be signalled
	rest   leftovers
}

// Run runs the command and returns when its whole group has ended. The lock may
// be freed then, and not before. It may be called once in a process.
//
// Errors: ErrNotFound, ErrNotExecutable, or that the command could not be started
// for another reason. With an error nothing was run.
func Run(cfg Config) (Result, error) {
	r := &run{cfg: cfg, watch: watch{lock: cfg.Lock, grace: cfg.Grace}, tty: openTerminal()}
	defer r.tty.close()
	err := r.launch()
	if err == nil {
		err = r.supervise()
	}
	status, waiting := r.finish()
	switch {
	case r.lost: // if it came to nothing, then because of that
		err = nil
	case err == nil:
		err = waiting
	}
	return r.result(status), err
}

// launch brings everything up in the order that the package comment gives, but for
// the last step.
func (r *run) launch() (err error) {
	if r.keeper, err = startKeeper(); err != nil {
		return fmt.Errorf("start the keeper: %w", err)
	}
	if r.gate, err = startGate(r.cfg); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	r.tty.claim()
	if err = r.keeper.arm(r.gate.group, r.still); err != nil {
		return fmt.Errorf("wait for the keeper: %w", err)
	}
	if wantedBy(r.cfg) {
		r.tty.giveTo(r.gate.group)
	}
	return nil
}

// still says why it is too late to begin.
func (r *run) still() error {
	if r.watch.look() == hold {
		return nil
	}
	r.lost = true
	return errNearEnd
}

// change is what has become of the command.
type change struct {
	stopped unix.Signal // by which signal; 0: it has ended
}

// supervise opens the gate and returns when nothing of the group is left to wait
// for. Its error is that the command could not be run. Signals are kept back until
// the gate has become the command: the gate would not understand them.
func (r *run) supervise() (err error) {
	changes, opened := make(chan change), make(chan error, 1)
	var waiting sync.WaitGroup
	waiting.Go(func() { reportChanges(int(r.gate.group), changes) })
	waiting.Go(func() { opened <- r.gate.open() })
	defer waiting.Wait()
	var signals <-chan os.Signal
	lost := r.cfg.Lock.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for r.look(); !r.rest.over(r.gate.group); r.look() {
		timer.Reset(r.next())
		select {
		case err = <-opened:
			opened, signals = nil, r.cfg.Signals
		case s := <-signals:
			r.forward(s.(syscall.Signal))
		case <-r.tty.resizes:
			r.forward(unix.SIGWINCH)
		case <-r.tty.stops:
			r.forward(unix.SIGTSTP)
		case c := <-changes:
			r.look()
			r.changed(c)
		case <-lost:
			lost = nil
		case <-timer.C:
		}
	}
	if opened != nil { // the gate is gone, so this comes
		err = <-opened
	}
	return err
}

// forward passes a signal on, after a look: it may have come with a wake-up.
func (r *run) forward(s unix.Signal) {
	r.look()
	_ = r.gate.group.signal(s)
}

// reportChanges reports until the command has ended.
func reportChanges(pid int, changes chan<- change) {
	for {
		c, err := awaitChange(pid)
		changes <- c // an error is no change known: the command counts as ended, and is reaped
		if err != nil || c.stopped == 0 {
			return
		}
	}
}

// look looks at the lock and does what is due.
func (r *run) look() {
	switch r.watch.look() {
	case terminate:
		r.lost = r.lost || !r.rest.left()
		r.gate.group.terminate()
	case kill:
		r.lost = r.lost || !r.rest.left()
		err := r.gate.group.signal(unix.SIGKILL)
		r.denied = r.denied || !r.rest.killed && err == unix.EPERM // later, macOS says so of the dead
		r.rest.killed = true
	case hold:
	}
}

func (r *run) next() time.Duration { return min(r.watch.next(), r.rest.next()) }

// changed follows the command.
func (r *run) changed(c change) {
	if c.stopped == 0 {
		r.rest.begin(r.cfg.Grace)
		return
	}
	if r.tty.fd < 0 {
		return
	}
	wants := r.tty.given || c.stopped == unix.SIGTTIN || c.stopped == unix.SIGTTOU
	if r.tty.given || !wants || !r.tty.foreground() {
		r.tty.suspend()
		r.look()
	}
	if wants {
		r.tty.giveTo(r.gate.group)
	}
	_ = r.gate.group.signal(unix.SIGCONT)
}

// finish ends everything in the order that the package comment gives, whatever of
// it was started.
func (r *run) finish() (status syscall.WaitStatus, err error) {
	r.tty.takeBack()
	if r.gate != nil {
		_ = r.gate.group.signal(unix.SIGKILL)
	}
	if r.keeper != nil {
		r.keeper.dismiss()
	}
	if r.gate != nil {
		status, err = r.gate.reap()
	}
	return status, err
}

func (r *run) result(status syscall.WaitStatus) Result {
	result := Result{Code: status.ExitStatus(), Notes: r.rest.notes}
	if status.Signaled() {
		result.Code = 128 + int(status.Signal())
	}
	if r.denied {
		result.Notes = append(result.Notes, "the command could not be killed: it has other privileges than fencelock (sudo?)")
	}
	if r.lost {
		result.Lost = errNearEnd
		if err := r.cfg.Lock.Err(); err != nil {
			result.Lost = err
		}
	}
	return result
}
