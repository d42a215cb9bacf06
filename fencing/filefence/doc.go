// Package filefence fences a whole file: it is read, written, appended to and
// deleted only under a token that no newer holder has overtaken.
//
// # Where the fence is
//
// Beside the file stands a side file, "report.json.fence", one line long:
//
//	fence 1 reports/daily#1234 d28d6d02
//
// the format's version, the sequencer that raised the fence last, and a CRC-32 of
// its text. The lock in it guards the file. The first operation binds it, or
// [Config].Guard does; a sequencer of another lock is fencing.ErrWrongGuard from
// then on. The side file outlives the file, and is never removed: without it there
// is no fence. Before the first operation is admitted it says "none" where the
// sequencer goes on to stand. A line that does not add up admits nobody, and
// neither does an empty file: a side file has its line before it has its name.
//
// # One step
//
// Every operation holds the side file's flock(2) from the check to the end, so
// that check and write are one step for all processes of the machine:
//
//	lock      flock on the side file, and is it still the one under that name?
//	          none there: one creator at a time writes and locks one, fsync, rename
//	check     lower: refused    equal: go on    higher: ask Verify, then
//	raise     write a new side file, lock it, fsync, rename, fsync the folder
//	change    write a new file, fsync, rename, fsync the folder
//
// The fence is on the disk before the data can be seen. A crash between any two
// steps leaves the old file or the new one, the fence as it was or raised, and
// perhaps a temporary file, which the next operation removes.
//
// Files are replaced, never changed in place: mode and owner are kept, and an
// operation that cannot keep the owner fails; ACLs, extended attributes and
// further hard links are not kept. An append copies the file. A symbolic link is
// followed, and the file it leads to has the fence, under whatever name it is used.
//
// # What is not promised
//
// Who opens the file without this package is outside the fence. It sees whole
// states only, but may see one of a holder that is about to be overtaken, and can
// write at any time.
//
// flock binds the processes of one machine. On NFS, SMB and other network file
// systems this package has not been measured: their locks can be lost while the
// holder lives, and what one machine wrote, another may not see at once. Keep the
// file on a local disk, or use another fence. A file copied elsewhere leaves its
// fence behind, and a restored backup restores the fence as it was.
//
// Without Verify a made-up huge token is believed, and shuts out every holder to
// come. To repair that, stop whoever uses the file and remove the side file: the
// next operation binds it anew.
//
// It works on Linux, macOS and the BSDs. Elsewhere it builds, and [New] returns
// errors.ErrUnsupported: Windows cannot rename over a file that is open.
package filefence
