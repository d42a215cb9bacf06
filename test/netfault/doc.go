// Package netfault is a TCP proxy that stands between a client and a member in
// tests and breaks the link between them on demand.
//
//	client ── up ──▶ proxy ── up ──▶ member
//	       ◀─ down ─       ◀─ down ─
//
// "Up" is the way of requests, "down" the way of replies. A new proxy passes
// everything; each of these sets what happens in both directions from then on:
//
//	                 requests   replies
//	Pass             pass       pass      and ends Delay and Refuse
//	Stall            held       held      a black hole
//	StallReplies     pass       held      the member acts, nobody hears of it yet
//	StallRequests    held       pass      the client asks, the member does not hear yet
//	DropReplies      pass       lost      the member acts, nobody will ever hear of it
//
// Delay and Refuse stand beside these until Pass. Reset happens once.
//
// A fault binds open connections at once: when Stall has returned, the proxy
// writes nothing more to any socket until the next call. What a kernel had
// already taken may still be read on the other side.
//
// Held bytes are not lost. They, and the end of the stream after them, go out
// in order when the direction passes again. The proxy holds about 2 MiB per
// connection and direction; then it stops reading, and TCP holds back the sender.
//
// The counters count what the proxy has read from a sender, held and lost bytes
// included: a test that stalls replies waits with AwaitDown for the member's
// answer, without sleeping. HTTP/2 sends bytes of its own (settings, pings,
// window updates), so a count says that something came, not what.
package netfault
