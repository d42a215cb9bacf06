// Package memfence is a fence in the memory of one process, for resources that
// this process alone works on. The fences for HTTP and gRPC use it.
//
// # One step out of many
//
// A database makes check and write one step by a transaction. Here there is none,
// so the fence is held for as long as the work takes: [Fence.Enter] before, leave
// after. Work under one token runs side by side. A newer token is heard at once,
// and comes in when all older work is done:
//
//	33 ──enter──────── work ────────leave──▶
//	34       └─ enter ─ ─ ─ waits ─ ─ ─ ─ ─┴──── work ────leave──▶
//	33            └─ enter: stale, since 34 was heard
//
// From then on work under 33 is told to hurry: its context ends, with the
// [fencing.StaleError] as its cause. It may finish all the same; it comes before
// all work under 34. Work that never ends keeps newer holders out for ever, so
// whoever waits should bring a context with a deadline.
//
// # What is not promised
//
// The fence dies with the process. After a restart the first token is believed,
// and an overtaken holder that comes first works until the newer one is heard.
// With [Config].Verify it is asked about first, which closes that gap as far as the
// lock service can tell; a resource that outlives the process needs a fence that
// lies with it. Two processes behind one load balancer have two fences.
//
// A guard's entry, its name and a token, is kept for ever: forgetting it would
// lower the fence. Only admitted tokens make one, so with Verify there are no
// more entries than there are locks; without it, whoever may call decides.
package memfence
