package client

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock counts the time that the machine was suspended, which Go's monotonic
// clock does not: a lease goes on ageing while its holder sleeps.
type bootClock struct{}

func (bootClock) now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("read CLOCK_BOOTTIME: " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(t.Nano())
}

func newClock() clock { return bootClock{} }
