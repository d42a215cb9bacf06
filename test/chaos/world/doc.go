// Package world is what a run happens in: three members on hosts and disks of
// their own, client processes, a proxy before each member, a PostgreSQL and a
// Redis. It can do harm to each of them and undo it; when and why is not its
// business.
//
// As root each member and each client is in a network namespace of its own, with a
// cable to a router, which is one as well. A further cable leads to the namespace
// of the run itself, "outside": the proxies listen there, and the run reaches the
// members from there. Members' data lie on file systems of their own, in images.
//
//	c1 ─┐               ┌─ m1 ─ disk
//	c2 ─┤               ├─ m2 ─ disk
//	…   ├─── router ────┼─ m3 ─ disk
//	c5 ─┘               └─ outside: proxies, PostgreSQL, Redis
//
// Clients reach PostgreSQL and Redis through unix sockets, which no fault of the
// network cuts: a client that is cut off from its lock still reaches its data.
//
// Not root, everybody is on loopback addresses and in plain folders, and what
// cannot be done there is [errors.ErrUnsupported]; [World.Has] tells before.
//
// Hosts, disks, members and processes can also be had one by one, without the rest,
// by [Loopback] or [Namespaces], [NewDisk], [Hosts.NewMember] and [Launch], as the
// tests of test/faults do. Whoever made one closes or kills it.
//
// # Nothing is left behind
//
// Close ends every process and removes every namespace, mount and folder but
// Options.Folder. Should the run die before that, the kernel ends its processes
// (PR_SET_PDEATHSIG), and the next run removes what bears the dead one's number.
//
// Only Linux has all that.
package world
