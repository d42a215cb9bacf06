// Package keys says where everything lies in etcd, and which names there can
// be. It is the wire format that fencelock shares with clients in other
// languages and with etcd's own lock recipe.
//
// Under a namespace, "fencelock/" unless set otherwise:
//
//	lock/<name>/@/<lease id in lowercase hex>-<n>   one claim in the lock's queue
//	lock/<name>/@closed/<lease>                     for a moment: its session is being closed
//	semaphore/<name>/@/<lease>-<n>                  one claim on a semaphore
//	semaphore/<name>/limit                          how many may hold it, in decimal
//	fence/<name>                                    the highest admitted token
//	kv/<name>/@/<key>                               the user's data behind the fence
//
// The segment "@" cannot occur in a name, so it keeps lock "a" apart from lock
// "a/b", and a range over one queue never meets another.
//
// The queue lies where etcd's concurrency.Mutex, with the prefix
// "fencelock/lock/<name>/@", keeps its own: both stand in one line.
package keys
