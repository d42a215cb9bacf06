package cli

const lockHelp = `Run a command while holding a lock.

Waits for the lock, runs COMMAND, frees the lock when COMMAND has ended, and exits
with its exit code. COMMAND finds in its environment

  FENCELOCK_LOCK         the lock's name
  FENCELOCK_TOKEN        the fencing token of this grant, higher than all before
  FENCELOCK_SEQUENCER    both in one word, for "fencelock kv" and for other fences

Several NAMEs are taken together, or not at all, so that callers that hold nothing
else cannot block each other; one token serves all of them. COMMAND finds

  FENCELOCK_TOKEN        that token
  FENCELOCK_SEQUENCERS   the sequencers, one a line, in the order of the NAMEs

A NAME that begins with "-" has a "--" of its own before it: lock -- -x -- COMMAND.

With --shared others may hold the lock at the same time, if they share it too; with
--limit N there are N permits, and NAME is a semaphore, not a lock. Those who hold
together do not exclude each other, so COMMAND finds FENCELOCK_LOCK alone.

While it waits, it says on standard error who holds the lock: on a terminal in a
line that is kept up to date, elsewhere once, after a second.

COMMAND has the standard input, output, error and terminal of fencelock. Signals to
fencelock (INT, TERM, HUP, QUIT, USR1, USR2, WINCH) are passed on to COMMAND and
its children, its process group.

A lock has to be renewed, three times per --ttl. If that fails, COMMAND gets
SIGTERM some time (--grace) before others can hold the lock, and SIGKILL before
they can. If the lock was broken or revoked, SIGKILL comes at once. If fencelock
is killed, so is COMMAND; if it is paused, COMMAND is killed when it wakes. All of
that is done to the whole process group. It does not reach processes that have
left the group, or that run with other privileges (sudo): run fencelock under
sudo, not sudo under fencelock.

Processes that COMMAND leaves in its group when it ends would go on without the
lock: they get a second to end, then SIGTERM, then SIGKILL, before the lock is
freed. A COMMAND that is stopped with Ctrl-Z loses its lock after the TTL.

Without COMMAND, prints the sequencer (of several locks, with --hold, one a line; of
a shared lock or a semaphore its name; with -o json one object) and holds until standard input ends, or a
signal comes.

Exit codes: those of COMMAND; 128+n if signal n ended it, or ended the wait for
the lock; 123 the lock was lost before COMMAND ended, whatever it returned; 124
somebody else holds the lock, after --wait or with --try (-E changes it); 125
fencelock failed, or was used wrongly; 126 COMMAND cannot be executed; 127 there
is no such command.`

const lockExample = `  fencelock lock nightly-report -- ./report.sh
  fencelock lock --try -E 0 cron/backup -- backup   # somebody else does it: fine
  fencelock lock accounts/1 accounts/2 -- ./transfer.sh
  fencelock lock --shared catalogue -- ./export.sh
  fencelock lock --limit 3 uploads -- ./upload.sh
  fencelock lock acct -- sh -c 'fencelock kv put acct balance 10'`
