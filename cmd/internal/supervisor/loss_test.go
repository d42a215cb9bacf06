//go:build linux

package supervisor_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/netfault"
)

// family prints the process ids of a shell, its child, and its grandchild, and
// survives whatever can be survived.
func family() string {
	const deaf = `trap "" TERM INT HUP QUIT; `
	return deaf + `echo $$; sh -c '` + deaf + `echo $$; (` + deaf + `sleep 1000) & echo $!; wait' & wait`
}

func (p *process) family() []int { return []int{p.pid(), p.pid(), p.pid()} }

// soon is how long a kill may take that is due at once, on a busy machine.
const soon = 1500 * time.Millisecond

func wantGone(t *testing.T, pids []int) {
	t.Helper()
	for i, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d (%d of the group) lives on", pid, i)
		}
	}
}

// With a TTL of a minute only the revocation itself can be what ends the group.
func TestRevokedOrBrokenKillsAtOnce(t *testing.T) {
	_, other := newMember(t)
	for name, takeAway := range map[string]func(string){"revoked": other.revoke, "broken": other.breakLock} {
		t.Run(name, func(t *testing.T) {
			p := start(t, other.endpoint, "fencelock", "lock", "--ttl", "1m", "x", "--", "sh", "-c", family())
			pids := p.family()
			began := time.Now()
			takeAway("x")
			p.ends(123, `lock "x": lock lost`, "revoked")
			if took := time.Since(began); took > soon {
				t.Errorf("the command ended after %v, want it at once", took)
			}
			wantGone(t, pids)
		})
	}
}

// nextHolder waits for the lock, and tells when it was granted.
func (o other) nextHolder(name string) <-chan time.Time {
	granted := make(chan time.Time, 1)
	ctx := o.context()
	go func() {
		if _, err := o.Lock(ctx, name); err == nil {
			granted <- time.Now()
		}
		close(granted)
	}()
	eventually(o.t, "a waiter", func() bool { return len(o.inspect(name).Waiters) == 1 })
	return granted
}

// throughProxy starts fencelock so that its packets can be made to vanish.
func throughProxy(t *testing.T, o other, script string) (*process, *netfault.Proxy) {
	t.Helper()
	proxy := netfault.New(t, o.endpoint)
	return start(t, proxy.Addr(), shell(script)...), proxy
}

func TestUnreachableClusterTermsThenKills(t *testing.T) {
	_, other := newMember(t)
	p, proxy := throughProxy(t, other, `trap "echo term" TERM; sleep 1000 & echo $! $$; while :; do sleep 0.01; done`)
	p.line()
	holder := other.isHeld("x")
	granted := other.nextHolder("x")
	proxy.Stall()
	p.expect("term")
	termed := time.Now()
	p.ends(123, `lock "x": lock lost`, "deadline")
	if took := time.Since(termed); took < ttl/5/2 {
		t.Errorf("SIGKILL came %v after SIGTERM, want about %v", took, ttl/5)
	}
	select {
	case at := <-granted:
		t.Errorf("the lock of token %v was granted to others at %v, while the command ran", holder.Token, at)
	default:
	}
	if at := <-granted; at.IsZero() {
		t.Error("the lock was not freed by its TTL")
	}
}

// The command is dead when the next one holds, not only when fencelock has ended.
func TestDeadBeforeTheNextHolder(t *testing.T) {
	_, other := newMember(t)
	p, proxy := throughProxy(t, other, family())
	pids := p.family()
	granted := other.nextHolder("x")
	proxy.Stall()
	<-granted
	wantGone(t, pids)
	p.ends(123, "lock lost")
}

func TestToldToEndIsLost(t *testing.T) {
	_, other := newMember(t)
	p, proxy := throughProxy(t, other, `trap "echo term; cat; exit 0" TERM; echo ready; while :; do sleep 0.01; done`)
	p.expect("ready")
	t.Run("even if it exits 0", func(t *testing.T) {
		proxy.Stall()
		p.expect("term")
		p.stdin.Close()
		p.ends(123, "given up for lost", "the command was ended")
	})
	p, proxy = throughProxy(t, other, `trap "echo term" TERM; echo ready; while :; do sleep 0.01; done`)
	p.expect("ready")
	t.Run("even if a renewal gets through", func(t *testing.T) {
		proxy.Stall()
		p.expect("term")
		proxy.Pass()
		p.ends(123, "given up for lost")
		other.isFree("x")
	})
}

func TestMembersKilled(t *testing.T) {
	member, other := newMember(t)
	p := start(t, other.endpoint, shell(family())...)
	pids := p.family()
	member.Kill(0)
	p.ends(123, "lock lost")
	wantGone(t, pids)
}

// The lock is not freed early: Close, which revokes the lease, comes after the
// command's end even if the lock is lost.
func TestSessionOutlivesTheCommand(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, "fencelock", "lock", "--ttl", "1m", "x", "--", "sh", "-c", family())
	pids := p.family()
	lease := other.isHeld("x").Lease
	other.breakLock("x")
	for leaseEnded := false; !leaseEnded; {
		leases, err := other.Etcd().Leases(other.context())
		if err != nil {
			t.Fatal(err)
		}
		leaseEnded = true
		for _, l := range leases.Leases {
			leaseEnded = leaseEnded && int64(l.ID) != lease
		}
	}
	wantGone(t, pids)
	p.ends(123, "lock lost")
}

// fencelock is stopped for longer than its TTL; the command, which is not, goes on.
func TestPausedPastTheTTL(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell(family())...)
	pids := p.family()
	p.signal(syscall.SIGSTOP)
	next, err := other.Acquire(other.context(), client.Request{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if gone(pids[0]) {
		t.Error("the command has ended before fencelock woke: who did that?")
	}
	woken := time.Now()
	p.signal(syscall.SIGCONT)
	p.ends(123, "lock lost")
	if took := time.Since(woken); took > soon {
		t.Errorf("the command ended %v after fencelock woke", took)
	}
	wantGone(t, pids)
	if err := next.Err(); err != nil {
		t.Errorf("the next holder's lock: %v", err)
	}
}

// A command that ends while no member answers keeps its exit code.
func TestUncertainUnlock(t *testing.T) {
	_, other := newMember(t)
	proxy := netfault.New(t, other.endpoint)
	p := start(t, proxy.Addr(), "fencelock", "lock", "--ttl", "1m", "--dial-timeout", "1s", "x", "--", "sh", "-c", "echo ready; cat; exit 4")
	p.expect("ready")
	proxy.Stall()
	p.stdin.Close()
	p.ends(4, `unlock "x"`, "at the latest")
}

// The lock was taken away right before the command ended, and nobody had noticed.
func TestLostRightBeforeTheEnd(t *testing.T) {
	_, other := newMember(t)
	proxy := netfault.New(t, other.endpoint)
	p := start(t, proxy.Addr(), "fencelock", "lock", "--ttl", "1m", "x", "--", "sh", "-c", "echo ready; cat")
	p.expect("ready")
	proxy.StallReplies()
	other.breakLock("x")
	p.stdin.Close()
	proxy.Pass()
	p.ends(123, "lock lost")
}
