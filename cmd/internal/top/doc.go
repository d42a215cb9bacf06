// Package top is a screen that shows the locks of a cluster and who waits for them,
// as that changes.
//
// # Where the picture comes from
//
// A feed reads all locks, when a watch tells that something has happened and at least
// every two seconds, but never without a pause between two readings that is as long
// as the last one took, and half a second: a cluster with many locks must not suffer
// from being looked at. While the cluster does not answer, the screen keeps what was
// known last and says since when.
//
// # The parts
//
//	feed    reads, and sends snapshots and faults to the screen
//	view    what is shown of a snapshot: filtered, sorted, with a cursor; pure
//	screen  turns keys into changes of the view, and the view into text
package top
