// Package members changes who belongs to a running cluster, through etcd's client
// API: for a member that joins, and for an operator's commands.
//
// etcd refuses changes for reasons that pass: a member that has been connected
// for less than 5 s or is away, a learner that has not caught up, another learner
// (it takes one at a time). A [Change] waits these out as long as its context
// allows, says what it waits for, and looks at the list of members before each
// attempt: so it may be interrupted and made again, and an answer that was lost
// does no harm.
//
// Removing a member that would take the majority of the rest with it is refused
// before etcd is asked, with the names, see [CheckRemove].
package members
