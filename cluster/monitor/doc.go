// Package monitor is the listener of a member for those who watch over it:
//
//	/livez     200 while the process answers, with or without a quorum
//	/readyz    200 while the member serves; else 503 and the reason as text
//	/metrics   for Prometheus: etcd's metrics, Go's, and the census
//
// and nothing else, no profiles and no variables. It has no TLS and no users, and
// belongs on loopback or on a network of operators.
//
// # The census
//
// How many locks are held is counted when a scrape asks for it, in the
// background, and then no sooner than 5 s later, or 20 times as long as it took:
// with 100,000 claims a scrape costs what it costs without any. A mirror of all
// queues would always be up to date, but each lock and unlock would pay for it,
// on every member, and it would have to be made anew after each gap.
package monitor
