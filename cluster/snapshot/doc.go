// Package snapshot saves the data of a running cluster, checks what was saved,
// and makes it the first data of a new cluster that issues no token twice.
//
//	cluster ──Save──▶ FILE ──Restore──▶ origin.db ──Apply──▶ member/
//	                                    origin.json
//
// Save and Verify work on a snapshot file in etcd's own format: the database,
// then its SHA-256. Restore does not start anything: it stages, in an empty data
// folder, the edited database and a note of where it comes from. Apply runs when
// the members have agreed on a first start, and gives the folder to etcd.
//
// # What Restore edits
//
//   - A key that is bound to a lease is deleted, and so is every lease. Without
//     that, the holders of the day of the snapshot would hold again, and their
//     handles and sequencers would work.
//   - Every fence is closed at the floor, at a new revision: neither an old token
//     nor a write prepared under an old fence passes.
//   - The store's revision becomes the floor, and everything up to it counts as
//     compacted. So every later token is above the floor, and a client that
//     watched the old cluster is told that its place in history is gone.
//   - Members, alarms and the cluster's version are left out. Users and roles stay.
//
// The same snapshot and floor give the same bytes on every host, so that members
// can compare what they start from.
//
// # What is promised, and what is not
//
//   - The default floor is the present, in microseconds since 1970. It is above
//     every revision that any cluster has reached which began at 1, at an earlier
//     present or at the default floor of an earlier restore, and made fewer than a
//     million writes per second; as long as no clock was ahead of this one.
//   - Where the clock is behind the snapshot's revision (it is wrong, or somebody
//     gave a higher floor by hand) there is no default floor: [ErrClock]. Whatever
//     was made of the snapshot alone would be the same in a second restore of it,
//     and so would the tokens.
//   - A floor that is given is believed: see [RestoreConfig].
//   - Whatever was written after the snapshot is lost.
package snapshot
