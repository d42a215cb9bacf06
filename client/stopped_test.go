//go:build unix

package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing/kv"
)

// What the test binary is told when it runs as a holder, see TestHolderProcess.
const (
	holderKind      = "FENCELOCK_TEST_HOLDER"
	holderEndpoints = "FENCELOCK_TEST_HOLDER_ENDPOINTS"
)

// stoppedTTL is that of a holder that will be stopped.
const stoppedTTL = 2 * time.Second

// threeMembers start with a short election time-out.
func threeMembers(t testing.TB) *clustertest.Cluster {
	t.Helper()
	return clustertest.StartConfig(t, clustertest.Config{Members: 3, Heartbeat: 50 * time.Millisecond, Election: 500 * time.Millisecond})
}

// fenced makes one fenced operation of a handle: a write, if the kind may write.
func fenced(h anyHandle) (err error) {
	switch l := h.handle.(type) {
	case *client.Lock:
		_, err = l.KV().Put(context.Background(), "k", []byte("mine"))
	case *client.Locks:
		_, err = l.KV("orders").Put(context.Background(), "k", []byte("mine"))
	case *client.SharedLock:
		_, err = l.KV().Get(context.Background(), "k")
	}
	return err
}

// service is a handle of the store that does not ask whether the lock is held, as
// the service has that was handed the sequencer; nil for kinds without one.
func service(c *client.Client, h anyHandle) (*kv.KV, error) {
	switch l := h.handle.(type) {
	case *client.Lock:
		return c.KV(l.Sequencer())
	case *client.Locks:
		return c.KV(l.Sequencer("orders"))
	}
	return nil, nil
}

// TestHolderProcess is the holder's process, and nothing when it is run as a test.
// It says when it holds; each line that it reads is a question, which it answers
// with what Err says first, and what the store says to its writes.
func TestHolderProcess(t *testing.T) {
	kind, asked := os.LookupEnv(holderKind)
	if !asked {
		return
	}
	c := connect(t, client.Config{Endpoints: strings.Split(os.Getenv(holderEndpoints), ","), Owner: "stopped"})
	h := ways()[kind].get(t, session(t, c, stoppedTTL))
	records, err := service(c, h)
	if err == nil && records != nil {
		_, err = records.Put(context.Background(), "k", []byte("stopped"))
	}
	if err == nil {
		err = fenced(h)
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("holds")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		lost, write := h.Err(), error(client.ErrStale)
		if records != nil {
			_, write = records.Put(context.Background(), "k", []byte("stopped"))
		}
		fmt.Printf("lost %t, refused %t\n", errors.Is(lost, client.ErrLost), errors.Is(write, client.ErrStale))
	}
}

// holder is a process that holds something.
type holder struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startHolder(t *testing.T, cluster *clustertest.Cluster, kind string) *holder {
	t.Helper()
	h := &holder{cmd: exec.Command(os.Args[0], "-test.run=^TestHolderProcess$")}
	h.cmd.Env = append(os.Environ(), holderKind+"="+kind, holderEndpoints+"="+strings.Join(cluster.Endpoints(), ","))
	h.cmd.Stderr = os.Stderr
	in, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.in, h.out = in, bufio.NewReader(out)
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	})
	h.says(t, "holds")
	return h
}

// says waits for the next line that the process prints.
func (h *holder) says(t *testing.T, want string) {
	t.Helper()
	line := start(func() (string, error) { return h.out.ReadString('\n') })
	if got := strings.TrimSpace(obtain(t, line, "the holder's process")); got != want {
		t.Errorf("the holder's process says %q, want %q", got, want)
	}
}

func (h *holder) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// rivals is which way has to wait while another is held.
func rivals(name string) string {
	if name == "shared" {
		return "exclusive"
	}
	return name
}

// The holder's process is stopped for longer than its TTL: another gets what it held,
// and when it wakes the first thing that it sees is its loss; what it writes without
// looking is refused.
func TestEveryKindOfAStoppedHolder(t *testing.T) {
	t.Parallel()
	cluster := threeMembers(t)
	c := member(t, cluster, "next")
	for name := range ways() {
		t.Run(name, func(t *testing.T) {
			s := session(t, c, time.Minute)
			stopped := startHolder(t, cluster, name)
			waiting := ways()[rivals(name)].goGet(t.Context(), s)
			awaitClaims(t, cluster.Client(t), ways()[name].under, ways()[name].claims+ways()[rivals(name)].claims)
			stopped.signal(t, syscall.SIGSTOP)
			at := time.Now()
			next := obtain(t, waiting, "the next holder")
			if took := time.Since(at); took > stoppedTTL+3*time.Second {
				t.Errorf("the next holder came after %v, want the TTL of %v and about a second", took, stoppedTTL)
			}
			if err := fenced(next); err != nil {
				t.Errorf("the next holder's operation: %v", err)
			}
			stopped.signal(t, syscall.SIGCONT)
			if _, err := io.WriteString(stopped.in, "?\n"); err != nil {
				t.Fatal(err)
			}
			stopped.says(t, "lost true, refused true")
			if err := next.Err(); err != nil {
				t.Errorf("the next holder: %v, want it to hold", err)
			}
			giveBack(t, next)
		})
	}
}

// fencedAfterAll makes a fenced operation that must succeed in the end: while there is
// no leader, it may get no answer.
func fencedAfterAll(t *testing.T, h anyHandle) {
	t.Helper()
	var err error
	eventually(t, limit, "an operation of the holder succeeds", func() bool {
		err = fenced(h)
		return !errors.Is(err, client.ErrUncertain) && !errors.Is(err, client.ErrUnavailable)
	})
	if err != nil {
		t.Errorf("an operation of the holder: %v", err)
	}
}

// The leader dies while something is held and waited for: it stays held, the one who
// waits does not get it too, and does when it is given back.
func TestEveryKindSurvivesAChangeOfLeader(t *testing.T) {
	t.Parallel()
	cluster := threeMembers(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	for name, w := range ways() {
		t.Run(name, func(t *testing.T) {
			held := w.get(t, session(t, a, 10*time.Second))
			waiting := ways()[rivals(name)].goGet(t.Context(), session(t, b, 10*time.Second))
			awaitClaims(t, cluster.Client(t), w.under, w.claims+ways()[rivals(name)].claims)
			leader := cluster.Leader(t.Context())
			cluster.Kill(leader)
			fencedAfterAll(t, held)
			notYet(t, waiting, "the one who waits")
			if err := held.Err(); err != nil {
				t.Errorf("the holder: %v, want it to hold", err)
			}
			giveBack(t, held)
			next := obtain(t, waiting, "the next holder")
			fencedAfterAll(t, next)
			giveBack(t, next)
			cluster.Restart(leader)
		})
	}
}
