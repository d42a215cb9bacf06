// Package grpcfence fences gRPC services: a call says under which sequencer it
// comes, and one that has been overtaken is refused, a reading one too.
//
// # The call
//
// The metadata "fencing-token" carries the sequencer, "accounts/42#1234".
// [UnaryClient] and [StreamClient] put it there from the call's context;
// [UnaryServer] and [StreamServer] take it from there, ask the fence, and put it
// into the handler's context, where the next client, or a fence of a database,
// finds it. Which lock guards a call is the server's to say, see [Guard].
//
// # The answer
//
//	FailedPrecondition  STALE, NOT_HELD, WRONG_GUARD, NOT_ISSUED
//	InvalidArgument     MISSING, MALFORMED, INVALID_NAME
//	Unavailable         UNAVAILABLE: the fence could not be asked; the handler has not run
//	Unknown             OUTCOME_UNKNOWN, from the handler
//
// The word is the reason of an ErrorInfo (google.rpc) of the domain "fencelock",
// among the status's details; a stale token's carries guard, token and highest in
// its metadata. A missing sequencer is an InvalidArgument and no failed
// precondition: nothing that the server could do would help the call. The client
// interceptors turn a status back into the error that it was made from, for a
// stale token a *fencing.StaleError; so do [FromStatus] and, the other way,
// [ToStatus]. Errors of package fencing that a handler returns are answered the
// same way.
//
// # Streams
//
// A stream has one sequencer, sent when it is opened, and is checked with each
// message. The guard is held, as a fence in memory holds it, from the moment at
// which the handler has received a message until it asks for the next one, or
// returns:
//
//	Recv ─▶ enter ── handler works, sends ── Recv ─▶ leave … next message … enter ──
//	              └─ a newer holder waits: the stream's context ends
//
// A message of a stream that was overtaken is not handed to the handler; Recv
// returns the refusal. Send lets the message through, since the work it tells of is
// done, and then returns the refusal if a newer holder waits. Either way the
// handler has to return, and the stream ends as stale. While the handler waits in
// Recv the guard is free, and a stream that is idle hears of a newer holder with
// its next message. Handlers that receive in one goroutine and work in another are
// not held in between; they need a fence of their own, see [InHandler].
//
// # What is not promised
//
// The interceptors are no fence for what lies behind the handler: it may pause, and
// write to a database long after. Only a fence in there stops that, and only there
// is nothing lost by a restart or a second replica of the service. A sequencer is no
// credential: whoever may call can send a higher token, unless the fence verifies it.
package grpcfence
