//go:build linux

package supervisor_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slack is what the end of a lease may come late: etcd looks for expired leases
// twice a second.
const slack = 2 * time.Second

func TestKilledFencelockTakesTheGroupAlong(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell(family())...)
	pids := p.family()
	granted := other.nextHolder("x")
	killed := time.Now()
	p.signal(syscall.SIGKILL)
	for _, pid := range pids {
		eventually(t, "the end of the group", func() bool { return gone(pid) })
	}
	if took := time.Since(killed); took > soon {
		t.Errorf("the group ended after %v", took)
	}
	if at := <-granted; at.IsZero() || at.Sub(killed) > ttl+slack {
		t.Errorf("the lock was free %v after the kill, want at most %v", at.Sub(killed), ttl+slack)
	}
}

// The keeper survives what is meant for fencelock: a "killall -9 fencelock", and
// signals to fencelock's group and session.
func TestKeeperIsOutOfTheWay(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell(family())...)
	pids := p.family()
	keeper := p.keeper()
	if got, own := stat(keeper)[2:4], strconv.Itoa(keeper); got[0] != own || got[1] != own {
		t.Errorf("the keeper's group and session are %v, want its own, %s", got, own)
	}
	name, err := os.ReadFile("/proc/" + strconv.Itoa(keeper) + "/comm")
	if err != nil || strings.Contains(string(name), "fencelock") {
		t.Errorf("the keeper's name is %q (%v), so a kill of fencelock by name ends it too", name, err)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if err := syscall.Kill(keeper, s); err != nil {
			t.Fatal(err)
		}
	}
	p.signal(syscall.SIGKILL)
	for _, pid := range append(pids, keeper) {
		eventually(t, "the end of the group and the keeper", func() bool { return gone(pid) })
	}
}

// keeper finds the process id of the keeper.
func (p *process) keeper() int {
	p.t.Helper()
	for _, pid := range running("__keeper") {
		if stat(pid)[1] == strconv.Itoa(p.cmd.Process.Pid) {
			return pid
		}
	}
	p.t.Fatal("there is no keeper")
	return 0
}

// Nothing is left of the helpers when fencelock has ended.
func TestNoHelperIsLeft(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell("echo ready; cat")...)
	p.expect("ready")
	keeper := p.keeper()
	p.stdin.Close()
	p.ends(0)
	if !gone(keeper) {
		t.Errorf("the keeper, process %d, lives on", keeper)
	}
}

// fencelock is killed at moments from before it does anything until after it has
// started the command. Whenever that is, the command is not left running.
func TestKilledAtAnyMoment(t *testing.T) {
	_, other := newMember(t)
	const marker = "marked-by-TestKilledAtAnyMoment"
	for i := range 60 {
		name := "x" + strconv.Itoa(i) // so that nobody waits for a dead one's TTL
		p := start(t, other.endpoint, "fencelock", "lock", "--ttl", ttl.String(), name, "--", "sh", "-c", ": "+marker+"; sleep 1000 & sleep 1000")
		<-time.After(time.Duration(i) * time.Millisecond)
		p.signal(syscall.SIGKILL)
		eventually(t, "the end of everything after "+strconv.Itoa(i)+" ms", func() bool { return len(running(marker)) == 0 })
	}
}
