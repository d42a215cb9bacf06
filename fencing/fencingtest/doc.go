// Package fencingtest is the conformance suite of fences: what every adapter of
// this module must do, and what anybody's own fence should.
//
// An adapter's test describes its resource in a [Harness] and calls [Run]. The
// suite knows a resource by one function, [Resource]: it performs one operation
// under one sequencer and returns what it read, or the adapter's error. There is
// no way past the fence, so the suite judges by what a holder can see:
//
//   - "nothing was written" is a read under the token that must still be admitted;
//   - "the fence did not move" is an operation under a lower token that must be.
//
// # What is asked
//
//	lower refused, equal admitted, higher adopted   for a read, write, delete and advance
//	the crossing      a newer read shuts the older writer out, before any newer write
//	no sequencer, an impossible one, malformed text, one of another lock
//	tokens that text, float64 and 32 bits would confuse; tokens beyond 2^53
//	Verify is asked about a token that would raise the fence, and about no other
//	the fence outlives deletes and restarts; guards do not disturb each other
//	fifty racers: no acknowledged write is lost, none lands after a higher token
//
// # What cannot be skipped
//
// A resource that cannot do something says so in [Harness.Without], with the
// reason, and the reason is printed. What is not declared there is asked for, and
// fails if it is not there. No case is ever skipped in silence.
//
// [Crash] is apart: it kills the process of an adapter before each of its steps.
//
// The package's own tests run all cases against fences that are wrong on
// purpose, and see each case object to at least one.
package fencingtest
