// Package demo shows what a pause does to a lock, and what a fence does about it:
// on a real three-member cluster, with worker processes that are really stopped.
//
// # The two cases
//
// An account holds 100. A adds 10 and B adds 20; each takes the lock, reads, and
// writes the sum, after a check that it still holds the lock. A is stopped between
// that check and its write, for longer than its session lives.
//
//	late-writer   A lock, read, check │stopped                        │ write
//	              B                   │ lock, read, write             │
//
//	crossing      A lock, read, check │stopped           │ write
//	              B                   │ lock, read       │        write
//
// Each is played with the balance in a file that the lock alone guards, and with
// the balance behind the lock's fence: four runs. [Report.Check] says whether each
// ended as it must. Whether an update was lost is computed from what the workers
// were told and what the account holds in the end.
//
// # How A is stopped at that moment
//
// The write itself calls [depart] after its last check: the file's just before the
// rename, the fenced one from an interceptor of A's own etcd client, which gRPC
// runs when the request is about to be sent. There A tells the demo and sends
// itself SIGSTOP. The demo learns from wait4 that A is stopped, lets B work, and
// sends SIGCONT; the very same write goes on.
//
// # What is left behind
//
// Nothing, however [Run] ends: workers are killed, members closed, the folder
// removed. If the demo itself is killed, its folder stays, but its workers end: a
// running one sees the end of its input, a stopped one is killed by the kernel
// (PDEATHSIG on Linux; elsewhere by the SIGHUP that goes to a stopped process group
// when it is orphaned).
package demo
