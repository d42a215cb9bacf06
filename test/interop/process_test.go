package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// tool builds a program of one of the modules in test/tools, if the build cache
// does not have it, and returns its path there.
func tool(module, program string) (string, error) {
	build := exec.Command("go", "tool", "-C", "../tools/"+module, "-n", program)
	out, err := build.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("build %s of test/tools/%s: %w\n%s", program, module, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

var (
	etcdctl = sync.OnceValues(func() (string, error) { return tool("etcdctl", "go.etcd.io/etcd/etcdctl/v3") })
	etcd35  = sync.OnceValues(func() (string, error) { return tool("etcd35", "go.etcd.io/etcd/server/v3") })
	etcd37  = sync.OnceValues(func() (string, error) { return tool("etcd37", "go.etcd.io/etcd/server/v3") })
)

// startEtcdctl starts etcdctl for a server.
func startEtcdctl(s server, args ...string) (*process, error) {
	path, err := etcdctl()
	if err != nil {
		return nil, err
	}
	return start(path, append([]string{"--endpoints=http://" + s.endpoint}, args...)...)
}

// process is a program that runs.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended and err is set
	err   error

	mu   sync.Mutex
	text strings.Builder // all that it has printed
	more chan struct{}   // closed, and replaced, when it prints
}

// start starts a program that dies with the test process, at the latest. Whoever
// starts it ends it.
func start(path string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), ended: make(chan struct{}), more: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // ETCDCTL_ and ETCD_ variables are settings
	p.cmd.SysProcAttr = dieWithParent()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Write takes what the process prints.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.text.Write(text)
}

// printed is all that the process has printed, and what tells that there is more.
func (p *process) printed() (text string, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String(), p.more
}

// await waits until the process has printed what wanted looks for.
func (p *process) await(ctx context.Context, wanted func(text string) bool) error {
	for {
		text, more := p.printed()
		if wanted(text) {
			return nil
		}
		select {
		case <-more:
		case <-p.ended:
			return fmt.Errorf("%s ended: %v\n%s", p.cmd, p.err, text)
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", p.cmd, context.Cause(ctx))
		}
	}
}

// signal sends a signal and waits for the end of the process.
func (p *process) signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	return p.err
}

// kill ends the process as kill -9 does, if it still runs.
func (p *process) kill() { _ = p.signal(os.Kill) }

// endWith ends the process with a test, and prints the last that it said if the
// test has failed.
func (p *process) endWith(t *testing.T) {
	t.Cleanup(func() {
		p.kill()
		if text, _ := p.printed(); t.Failed() {
			t.Logf("%s, at last:\n%s", p.cmd, text[max(0, len(text)-4<<10):])
		}
	})
}
