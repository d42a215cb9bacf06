//go:build linux

package faults

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

func cpuKinds() []Kind {
	return grouped("cpu", nil, nil,
		Kind{Name: "no processor time for anybody", Takes: []string{cpu}, Cost: pauses(silence), Do: starveAll},
		Kind{Name: "little processor time for the leader", Takes: []string{cpu, members}, Cost: sessions(silence), Do: starveLeader},
	)
}

// starveAll runs twice as many busy processes as there are processors, before
// others, where that is allowed.
func starveAll(ctx context.Context, r *Run) error {
	for _, c := range r.World.Clients {
		r.victims(c.Name)
	}
	runtime.LockOSThread() // the kernel takes the end of this thread for ours, and kills them
	defer runtime.UnlockOSThread()
	within, stop := context.WithCancel(ctx)
	var busy []*exec.Cmd
	var err error
	for range 2 * runtime.NumCPU() {
		cmd := exec.CommandContext(within, "sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
		if err = cmd.Start(); err != nil {
			break
		}
		busy = append(busy, cmd)
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, -5) // root's
	}
	if err == nil {
		err = r.hold(ctx)
	}
	stop()
	for _, cmd := range busy {
		_ = cmd.Wait() // killed
	}
	return errors.Join(err, r.settle(ctx))
}

// starveLeader lets the leader run for 5 ms of every 105.
func starveLeader(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, leader)
	if err != nil {
		return err
	}
	m := victims[0]
	err = r.repeat(ctx, 5*time.Millisecond, func() error {
		return errors.Join(m.Pause(), wait(ctx, 100*time.Millisecond), m.Resume())
	})
	return errors.Join(err, r.settle(ctx))
}
