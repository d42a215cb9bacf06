package servers

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is one run of a server's program.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended and was waited for
}

// patience is how long a server may take to come up on a busy machine.
const patience = 60 * time.Second

// startProcess returns when the server has printed that it is ready.
func startProcess(folder, program string, args []string, ready string, orphaned syscall.Signal) (*process, error) {
	out := &output{ready: []byte(ready), seen: make(chan struct{})}
	p := &process{cmd: command(folder, program, args, orphaned), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.WaitDelay = time.Second // children of a killed PostgreSQL hold its output open
	started := make(chan error, 1)
	go p.live(started)
	if err := <-started; err != nil {
		return nil, err
	}
	select {
	case <-out.seen:
		return p, nil
	case <-p.exited:
		return nil, fmt.Errorf("it ended before it was ready: %v\n%s", p.cmd.ProcessState, out)
	case <-time.After(patience):
		_ = p.kill()
		return nil, fmt.Errorf("not ready after %v\n%s", patience, out)
	}
}

// live starts the process and waits for its end. It keeps its thread: the kernel
// takes the end of the thread that started a process for the death of its parent.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread()
	defer close(p.exited)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait()
	}
}

func (p *process) signal(sig syscall.Signal) error { return p.cmd.Process.Signal(sig) }

// output looks for the line that says ready, and keeps the last of what was
// printed for a failure's text.
type output struct {
	ready []byte
	seen  chan struct{} // closed when ready was printed

	mu   sync.Mutex
	text []byte
	done bool
}

const keptOutput = 8 << 10

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b...)
	if !o.done && bytes.Contains(o.text, o.ready) {
		o.done = true
		close(o.seen)
	}
	if extra := len(o.text) - keptOutput; extra > 0 {
		o.text = o.text[extra:]
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}
