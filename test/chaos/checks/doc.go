// Package checks tells whether a run's history is right: pure functions over what
// clients asked and were told, which faults there were, and what stood at the end.
// It judges the product and so uses nothing of it.
//
// A fault's cost is stated before it is run, and each check excuses that and nothing
// else. A check that has looked at nothing has failed, unless nothing of its
// kind was in the run.
package checks
