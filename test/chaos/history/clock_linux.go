package history

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Now reads the clock.
func Now() Time {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(fmt.Sprintf("history: CLOCK_BOOTTIME: %v", err)) // every Linux since 2.6.39 has it
	}
	return Time(ts.Nano())
}
