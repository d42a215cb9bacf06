// Package supervisor runs a command under a lock: the command is dead when the
// lock is gone, also when the lock is lost, and also when the supervisor is.
//
// # Processes
//
//	fencelock ──────── waits for the command, looks at the lock
//	  ├── keeper ───── its own session; kills the group when fencelock has died
//	  └── COMMAND ──── leader of its own process group; began as the gate
//	        └── …      its children: the same group
//
// Everything is done to the group as a whole. It is made in this order:
//
//  1. fencelock starts the keeper. Between them is a pair of sockets whose one
//     end nobody but fencelock has: when fencelock ends, however it ends, the
//     kernel closes it and the keeper reads the end of the stream.
//  2. fencelock starts the gate: itself again, as the leader of a new group, with
//     the standard files and environment of the command, waiting at another pair
//     of sockets. If fencelock dies now, the gate reads the end of its stream
//     and ends; the command has not begun.
//  3. The keeper is told the group's number and answers that it is armed. If
//     fencelock dies from here on, the keeper kills the group.
//  4. The group gets the terminal, and the gate the word to go. It becomes the
//     command by exec, which also closes its socket.
//
// So at no moment does a kill -9 of fencelock leave a command behind.
//
// # Whose number it is
//
// A process group is named by its leader's process id. The kernel gives that
// number to somebody else once the leader has been reaped and nobody is left in
// the group, and a kill that comes later hits strangers. Therefore the leader's
// end is awaited without reaping it, and this is the order of the end:
//
//	the leader has ended ▷ nobody else is left in the group, or all are killed ▷
//	the keeper is killed and reaped ▷ the leader is reaped ▷ the lock is freed
//
// One gap remains: when fencelock is killed, init may reap the leader before the
// keeper, a moment later, kills the group. For that to hit a stranger the whole
// group must end by itself and all process ids be used up once within that
// moment.
//
// # Time
//
// The lock is looked at 10 times a second, before anything else that a wake-up
// brings: timers stand still while a machine is suspended, but the lock's own
// clock does not. Looking says what is due:
//
//	         deadline − grace      deadline       end of the lease
//	── hold ───────┼── SIGTERM ───────┼── SIGKILL ──────┼──▶ others may hold
//
// The deadline moves with each renewal; once SIGTERM was sent it does not matter
// any more, and the run counts as lost. A lock that ends before its deadline (it
// was broken, its lease revoked) belongs to somebody else already: SIGKILL at once.
//
// Nothing in the loop may block, or it could not kill: what there is to say is
// said when the command has ended.
//
// # The terminal
//
// A command that reads from the terminal gets it, as a shell's foreground job
// would, unless its output goes to a pipe: then the program there may be a pager,
// and the command gets the terminal when the kernel stops it for want of it. When
// the command stops (Ctrl-Z), fencelock takes the terminal back and stops too, so
// that the shell sees a stopped job. Nobody renews the lock then.
//
// # What is promised, and what is not
//
//   - While fencelock runs, the group is dead before the lease can end.
//   - If fencelock and the command were both paused, the group is killed within
//     100 ms after fencelock wakes. What the command does meanwhile only a fence
//     can refuse: that is what its sequencer is for.
//   - If fencelock is killed, the group is.
//   - Not reached are processes that left the group (by setsid, or as jobs of an
//     interactive shell), and those that fencelock may not signal (sudo).
//   - If fencelock and the keeper are both killed, nobody is left to act.
package supervisor
