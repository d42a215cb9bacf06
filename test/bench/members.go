package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fencelock/fencelock/cluster"
)

// memberMode is the first argument of a process that runs one member. The others
// are its name, its folder, its client address, and the members as name=peer.
const memberMode = "member-of-bench"

// members are the processes of a cluster.
type members struct {
	dir       string
	processes []*exec.Cmd
	stdins    []io.Closer // a member ends when its standard input does
	endpoints []string
}

// startMembers starts n members as processes on free loopback ports.
func startMembers(ctx context.Context, n int) (*members, error) {
	addresses, err := freeAddresses(2 * n)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fencelock-bench-")
	if err != nil {
		return nil, err
	}
	m := &members{dir: dir, endpoints: addresses[:n]}
	var peers []string
	for i, peer := range addresses[n:] {
		peers = append(peers, fmt.Sprintf("m%d=%s", i, peer))
	}
	var ready []io.Reader
	for i := range n {
		out, err := m.start(ctx, append([]string{fmt.Sprintf("m%d", i), filepath.Join(dir, fmt.Sprint(i)), addresses[i]}, peers...))
		if err != nil {
			m.stop()
			return nil, err
		}
		ready = append(ready, out)
	}
	for i, out := range ready {
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			m.stop()
			return nil, fmt.Errorf("member m%d did not start: %q, %v", i, line, err)
		}
	}
	return m, nil
}

func (m *members) start(ctx context.Context, args []string) (io.Reader, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, self, append([]string{memberMode}, args...)...)
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	m.processes, m.stdins = append(m.processes, process), append(m.stdins, stdin)
	return stdout, nil
}

// stop ends the members and removes their data.
func (m *members) stop() {
	for _, stdin := range m.stdins {
		stdin.Close()
	}
	for _, process := range m.processes {
		_ = process.Wait()
	}
	os.RemoveAll(m.dir)
}

// memory is the resident memory of all members together, in MiB, where the
// system tells it (Linux), else 0.
func (m *members) memory() int {
	total := 0
	for _, process := range m.processes {
		total += residentMiB(process.Process.Pid)
	}
	return total
}

// runMember runs one member until standard input ends.
func runMember(args []string) int {
	if err := memberUntilEOF(args); err != nil {
		fmt.Fprintln(os.Stderr, "bench: member:", err)
		return 1
	}
	return 0
}

func memberUntilEOF(args []string) error {
	if len(args) < 4 {
		return errors.New("want name, folder, client address, members")
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // the parent decides
	cfg := cluster.Config{Name: args[0], DataDir: args[1], ListenClient: args[2:3], InitialCluster: map[string][]string{}}
	for _, member := range args[3:] {
		name, peer, _ := strings.Cut(member, "=")
		cfg.InitialCluster[name] = []string{peer}
		if name == cfg.Name {
			cfg.ListenPeer = []string{peer}
		}
	}
	member, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return member.Close()
}

// freeAddresses finds n loopback addresses at which nobody listens.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
