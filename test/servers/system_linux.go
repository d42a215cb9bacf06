package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

const supported = true

// command makes a process that gets orphaned when this one dies.
func command(folder, program string, args []string, orphaned syscall.Signal) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	// A group of its own: Ctrl-C is for who has started it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: orphaned, Setpgid: true, Credential: unprivileged()}
	return cmd
}

// unprivileged is who servers run as, nil for the user who runs the tests.
func unprivileged() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid := uint32(65534), uint32(65534)
	if nobody, err := user.Lookup("nobody"); err == nil {
		if n, err := strconv.ParseUint(nobody.Uid, 10, 32); err == nil {
			uid = uint32(n)
		}
		if n, err := strconv.ParseUint(nobody.Gid, 10, 32); err == nil {
			gid = uint32(n)
		}
	}
	return &syscall.Credential{Uid: uid, Gid: gid}
}

// handOver gives a folder to the user who servers run as.
func handOver(folder string) error {
	if u := unprivileged(); u != nil {
		return os.Chown(folder, int(u.Uid), int(u.Gid))
	}
	return nil
}

// roomy reports whether a file system has room for a server of each kind.
func roomy(folder string) bool {
	const enough = 4 << 30
	var fs syscall.Statfs_t
	return syscall.Statfs(folder, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= enough
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// kill ends the process and its children, which for PostgreSQL are in sessions
// of their own, and waits for it.
func (p *process) kill() error {
	err := p.pause() // so that it has no further children
	if err == nil {
		err = p.all(syscall.SIGKILL)
	}
	select {
	case <-p.exited:
		return nil
	default:
	}
	if err == nil || p.signal(syscall.SIGKILL) == nil {
		<-p.exited
		return nil
	}
	return err
}

// pause stops the process, then its children: it makes none meanwhile.
func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return p.all(syscall.SIGSTOP)
}

// all sends a signal to the children, then to the process.
func (p *process) all(sig syscall.Signal) error {
	pid := p.cmd.Process.Pid
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(n, sig) // it may just have ended
		}
	}
	return p.signal(sig)
}

// resume lets all of them go on.
func (p *process) resume() error { return p.all(syscall.SIGCONT) }
