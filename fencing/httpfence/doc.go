// Package httpfence fences HTTP services: a request says under which sequencer it
// comes, and one that has been overtaken is refused, whatever its method. Reads
// count: a GET raises the fence as a PUT does.
//
// # The request
//
// The header Fencing-Token carries the sequencer, "accounts/42#1234". [Transport]
// puts it there from the request's context, [Handler] takes it from there and puts
// it into the context of the handler, where the next service's client or a fence
// of a database finds it:
//
//	Lock.Bind ─▶ Transport ──Fencing-Token──▶ Handler ─▶ fence ─▶ handler ─▶ sqlfence
//
// Which lock guards what the request is about is the server's to say: the guard
// function knows it from the route or the row, never from the header.
//
// # The answer
//
//	428  no sequencer                        ErrMissing
//	400  malformed, or several that differ   ErrMalformed
//	403  of another lock, or never issued    ErrWrongGuard, ErrNotIssued
//	409  stale, or not held                  *StaleError, ErrNotHeld
//	503  the fence could not be asked        ErrUnavailable; the handler has not run
//	500  outcome unknown                     ErrUncertain, from the handler
//
// Refusals are problem documents (RFC 9457) with a type of their own each, tokens
// as strings, since they may exceed 2^53. [Error] turns them back into the errors.
// A refused HEAD has no body, and so no more than its status.
//
// # Where the fence is
//
//   - In the process: package memfence holds the guard while the handler runs. A
//     newer token waits for older handlers to return, equal ones run together.
//     The handler's context ends early when a newer holder waits.
//   - In the handler: [InHandler] admits every sequencer of the right lock, and the
//     handler shows it to the fence of its database, inside its transaction, and
//     answers refusals by [WriteError].
//
// # What is not promised
//
// The middleware is no fence for what lies behind the handler. A handler that has
// entered and then pauses may write to a database long after; only a fence inside
// that database stops it, and only there is nothing lost by a restart or a second
// replica of the service. Work that a handler leaves behind in goroutines is
// outside the fence. A sequencer is no credential: whoever can send a request can
// send a higher token, unless the fence verifies it.
package httpfence
