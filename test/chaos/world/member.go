//go:build linux

package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Member is one of the cluster's processes.
type Member struct {
	Process
	Name     string // "m1"; the cluster knows it by the host and port of PeerURL
	Host     *Host
	Disk     *Disk
	Endpoint string // host:port for clients
	PeerURL  string

	metrics string   // host:port
	env     []string // beside what every process has
	binary  string   // the program

	commandMu sync.Mutex
	args      []string
}

// NewMember is what runs on Hosts.Members[i], in a cluster that has a member on each
// of them. It is not started, and whoever starts it kills it in the end.
func (h *Hosts) NewMember(i int, disk *Disk, binary string) *Member {
	var peers []string
	for _, host := range h.Members {
		peers = append(peers, peer(host))
	}
	host := h.Members[i]
	m := &Member{Name: fmt.Sprintf("m%d", i+1), Host: host, Disk: disk, binary: binary,
		Endpoint: host.Address + ":2379", PeerURL: "http://" + peer(host), metrics: host.Address + ":2381"}
	m.SetCommand([]string{"server", "--peers", strings.Join(peers, ","), "--name", peer(host), "--listen-client", m.Endpoint})
	return m
}

// peer is where a host's member listens for the others, and its name in the cluster.
func peer(h *Host) string { return h.Address + ":2380" }

// SetCommand replaces the arguments, for this and all later lives: what "member
// replace" tells, with or without the program's name. The data folder, log level and
// address of metrics are added where words do not name them.
func (m *Member) SetCommand(words []string) {
	words = slices.Clone(words)
	if len(words) > 0 && words[0] == "fencelock" {
		words = words[1:]
	}
	for _, flag := range [][2]string{{"--data-dir", m.Disk.Dir()}, {"--log-level", "error"}, {"--listen-metrics", m.metrics}} {
		if !slices.Contains(words, flag[0]) {
			words = append(words, flag[:]...)
		}
	}
	m.commandMu.Lock()
	defer m.commandMu.Unlock()
	m.args = words
}

// Command is what the next life runs.
func (m *Member) Command() []string {
	m.commandMu.Lock()
	defer m.commandMu.Unlock()
	return append([]string{m.binary}, m.args...)
}

// Launch starts the process, with arguments beside those that it always has.
func (m *Member) Launch(extra ...string) error { return m.LaunchUnder(nil, extra...) }

// LaunchUnder starts it behind a command that becomes it, keeping its process id:
// "nice", "strace -D".
func (m *Member) LaunchUnder(prefix []string, extra ...string) error {
	words := slices.Concat(prefix, m.Command(), extra)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, m.env...)
	if err := m.begin(m.Host, cmd); err != nil {
		return fmt.Errorf("start %s: %w", m.Name, err)
	}
	return nil
}

// Ready waits until the member itself says that it serves; it fails if the process
// ends.
func (m *Member) Ready(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		why := m.ready(ctx)
		if why == nil {
			return nil
		}
		select {
		case <-m.Ended():
			return fmt.Errorf("%s has ended, exit code %d: %s", m.Name, m.Code(), m.Text())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %w; it says: %s", m.Name, ctx.Err(), why, m.Text())
		case <-tick.C:
		}
	}
}

// askTime bounds one question to one member, which may be paused or cut off.
const askTime = time.Second

func (m *Member) ready(ctx context.Context) error {
	text, code, err := m.get(ctx, "/readyz")
	if err == nil && code != http.StatusOK {
		err = errors.New(strings.TrimSpace(text))
	}
	return err
}

// get asks the member's address of metrics, on a connection of its own, so that
// none is left over.
func (m *Member) get(ctx context.Context, path string) (text string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.metrics+path, nil)
	if err != nil {
		return "", 0, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	return string(body), response.StatusCode, err
}

// Start is Launch and Ready.
func (m *Member) Start(ctx context.Context) error {
	if err := m.Launch(); err != nil {
		return err
	}
	return m.Ready(ctx)
}

// Terminate ends the process in good order, with SIGTERM, and waits; another exit
// code than 0 is an error.
func (m *Member) Terminate(ctx context.Context) error { return m.finish(ctx, m.Name) }

// Trace attaches strace to the process and its threads, with arguments such as "-e",
// "inject=fdatasync:error=EIO"; undo detaches it. The process is slow meanwhile.
func (m *Member) Trace(args ...string) (undo func() error, err error) {
	undo, err = m.trace(args...)
	if err != nil {
		err = fmt.Errorf("trace %s: %w", m.Name, err)
	}
	return undo, err
}
