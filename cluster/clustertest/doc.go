// Package clustertest runs real members in the test's process, on loopback ports
// that were free, with data in t.TempDir:
//
//	c := clustertest.Start(t, 3)
//	etcd := c.Client(t)
//
// Everything ends with the test. A test that asks for a step which fails, such as
// a restart, ends at once; so the methods are for the test's own goroutine.
//
// Members do not sync their disk unless asked to, which a test cannot tell from
// the outside: a member that is stopped in the process loses nothing either way.
package clustertest
