// Package clock gives a process a wall clock that can be set, without touching the
// machine's: it jumps for whoever asks time.Now, while what runs on the monotonic
// clock (time.Since, timers, deadlines of contexts) stays right, as on a host whose
// clock an administrator or NTP sets.
//
// A program is built for it with
//
//	go build -overlay FILE
//
// where FILE is what Overlay returns: package time, in which Now adds an offset to
// the wall part of its reading. The offset lies in a file that Clocks writes and that
// the process, which finds its name in the environment, maps into its memory.
//
// Only Go code that asks package time is deceived. The clocks of the kernel
// (CLOCK_BOOTTIME, the times of files) are not.
package clock
